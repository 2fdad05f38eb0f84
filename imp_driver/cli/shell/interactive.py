"""The shell at a terminal: asks for a text, runs its statements, asks again."""

from __future__ import annotations

from collections.abc import Callable

from prompt_toolkit import PromptSession

from imp_driver.cli.shell.history import history_path
from imp_driver.cli.shell.names import Names
from imp_driver.cli.shell.prompt import prompt_session
from imp_driver.cli.shell.reader import entries
from imp_driver.cli.shell.shell import CANCELLED, Ended, Shell
from imp_driver.dbapi.connection import Connection

_GREETING = "End a statement with ; - it may span lines. \\? lists commands, \\q leaves, Ctrl-C cancels."


def interact(shell: Shell, connect: Callable[[], Connection]) -> None:
    """Serve the terminal until it is left by Ctrl-D or a command; ``connect`` opens the connection that is asked for names."""
    names = Names(connect)
    session = prompt_session(lambda: names.tables, history_path())
    shell.messages.tell(_GREETING)
    is_open, is_pressed = True, False
    try:
        while is_open:
            try:
                if is_pressed:
                    shell.messages.fail(CANCELLED)
                is_pressed = False
                is_open = _is_served(shell, session, names)
            except KeyboardInterrupt:
                # Pressed while the shell itself was busy, or again while it told of the first time.
                is_pressed = True
    finally:
        shell.write_to(None)
        names.close()


def _is_served(shell: Shell, session: PromptSession[str], names: Names) -> bool:
    """Ask once and run what is typed; False where the shell is left."""
    text = _asked(session, names)
    return text is not None and _run_all(shell, names, text)


def _asked(session: PromptSession[str], names: Names) -> str | None:
    """Return what is typed next, nothing after Ctrl-C; None after Ctrl-D."""
    names.resume()
    try:
        return session.prompt()
    except KeyboardInterrupt:
        return ""
    except EOFError:
        return None
    finally:
        names.pause()


def _run_all(shell: Shell, names: Names, text: str) -> bool:
    """Run the statements of a text up to the first that fails, and say what is left out; False where the shell is left."""
    typed = list(entries(text.split("\n")))
    for number, entry in enumerate(typed, 1):
        ended = shell.run(entry.text, f"Statement {number} of {len(typed)}: " if len(typed) > 1 else "")
        if ended is Ended.LEFT:
            return False
        if ended is Ended.FAILED:
            if number < len(typed):
                shell.messages.tell(_not_run(len(typed) - number))
            break
        names.note(entry.text)
    return True


def _not_run(count: int) -> str:
    return "The one behind it was not run." if count == 1 else f"The {count} behind it were not run."
