"""``imp sql``: decides where statements come from and where results go."""

from __future__ import annotations

import argparse
import io
import itertools
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import imp_driver
from imp_driver.cli.packages import what_to_install
from imp_driver.cli.shell.messages import Messages, OnConsole, Plain
from imp_driver.cli.shell.outputs import Format, Output, Records, Settings, Tables
from imp_driver.cli.shell.reader import Entry, entries
from imp_driver.cli.shell.reports import ReportForm
from imp_driver.cli.shell.shell import Ended, Shell
from imp_driver.errors import InterfaceError, OperationalError

_UNCUT = 100_000
"""Characters of a line where nobody looks at a screen."""


def run(arguments: argparse.Namespace) -> int:
    """Serve one connection until the input ends; return 1 at the first error of a script.

    Raises:
        imp_driver.Error: the connection fails, or a script cannot be read.
    """
    is_typed = not arguments.statements and arguments.file is None and sys.stdin.isatty() and sys.stdout.isatty()
    chosen = Format(arguments.format)
    needed = ("rich",) if chosen is Format.TABLE else ()
    advice = what_to_install("imp sql", (*needed, "prompt_toolkit", "pygments") if is_typed else needed, "cli")
    if advice is not None:
        print(advice if is_typed else f"{advice}, or choose --format csv or json", file=sys.stderr)
        return 1
    _as_utf8()
    output, messages = _ends(chosen, not is_typed)
    settings = Settings(report=ReportForm(arguments.report))
    try:
        if is_typed:
            return _typed(arguments.url, output, messages, settings)
        with _script(arguments) as script, imp_driver.connect(arguments.url) as connection:
            return _run_script(Shell(connection, output, messages, settings), script)
    except BrokenPipeError:
        # Nobody reads any more, as after `| head`; the interpreter would try to write what is left when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _typed(url: str, output: Output, messages: Messages, settings: Settings) -> int:
    from imp_driver.cli.shell.interactive import interact

    messages.add(["Connecting .."])
    with imp_driver.connect(url) as connection:
        # The names that are offered need no sketches.
        interact(Shell(connection, output, messages, settings), lambda: imp_driver.connect(url, sketch="off"))
    return 0


def _run_script(shell: Shell, script: Iterable[tuple[str, Entry]]) -> int:
    try:
        for where, entry in script:
            ended = shell.run(entry.text, f"imp: {where}: ")
            if ended is not Ended.WELL:
                return int(ended is Ended.FAILED)
    finally:
        shell.write_to(None)
    return 0


@contextmanager
def _script(arguments: argparse.Namespace) -> Iterator[Iterator[tuple[str, Entry]]]:
    """Give the statements with their places: numbers of those of -c, lines of a file or of standard input."""
    if arguments.statements:
        each = itertools.chain.from_iterable(entries(text.split("\n")) for text in arguments.statements)
        yield ((f"statement {number}", entry) for number, entry in enumerate(each, 1))
    elif arguments.file is None:
        yield _by_line(sys.stdin, "standard input")
    else:
        with _source(Path(arguments.file)) as source:
            yield _by_line(source, arguments.file)


def _source(path: Path) -> IO[str]:
    try:
        return path.open(encoding="utf-8-sig")
    except OSError as error:
        raise OperationalError(f"{path} cannot be read: {error.strerror}.") from error


def _by_line(source: IO[str], name: str) -> Iterator[tuple[str, Entry]]:
    try:
        for entry in entries(source):
            yield f"line {entry.line}", entry
    except UnicodeDecodeError as error:
        raise InterfaceError(f"{name} is not in UTF-8: {error.reason} at byte {error.start}.") from error


def _ends(chosen: Format, is_script: bool) -> tuple[Output, Messages]:
    if chosen is not Format.TABLE:
        return Records(chosen), Plain()
    from rich.console import Console

    has_width = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = Console() if has_width else Console(width=_UNCUT)
    return Tables(console), OnConsole(console, is_script)


def _as_utf8() -> None:
    """Have standard input and output in UTF-8 whatever the locale, and line ends as they are written."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="")
