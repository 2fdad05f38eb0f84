"""The shell at a terminal: asks for a text, runs its statements, asks again."""

from __future__ import annotations

from prompt_toolkit import PromptSession

from imp_driver.cli.shell.history import history_path
from imp_driver.cli.shell.names import Names
from imp_driver.cli.shell.prompt import prompt_session
from imp_driver.cli.shell.reader import entries
from imp_driver.cli.shell.shell import Ended, Shell

_GREETING = "End a statement with ; - it may span lines. \\? lists commands, \\q leaves, Ctrl-C cancels."


def interact(shell: Shell) -> None:
    """Serve the terminal until it is left by Ctrl-D or a command."""
    names = Names(shell.connection)
    session = prompt_session(lambda: names.tables, history_path())
    shell.messages.tell(_GREETING)
    try:
        while _is_served(shell, session, names):
            pass
    finally:
        names.pause()
        shell.write_to(None)


def _is_served(shell: Shell, session: PromptSession[str], names: Names) -> bool:
    """Ask once and run what is typed; False where the shell is left."""
    try:
        text = _asked(session, names)
        return text is not None and _run_all(shell, names, text)
    except KeyboardInterrupt:
        # Pressed again, while the shell itself was busy.
        return True


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
    """Run the statements of a text up to the first that fails; False where the shell is left."""
    for entry in entries(text.split("\n")):
        ended = shell.run(entry.text)
        names.note(entry.text)
        if ended is not Ended.WELL:
            return ended is not Ended.LEFT
    return True
