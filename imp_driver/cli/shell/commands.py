r"""Commands of the shell, which begin with a backslash: ``\d``, ``\x``, ``\o file`` and the like; ``help`` alone needs none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from imp_driver.cli.shell.catalog import Listed, listed_columns, listed_tables
from imp_driver.cli.shell.messages import Messages
from imp_driver.cli.shell.outputs import Output, Settings
from imp_driver.cli.shell.reader import HELP
from imp_driver.cli.shell.reports import ReportForm
from imp_driver.cli.shell.result_file import ResultFile, opened
from imp_driver.dbapi.connection import Connection
from imp_driver.errors import Error, ProgrammingError


class Shell(Protocol):
    """What commands read and change."""

    connection: Connection
    output: Output
    messages: Messages
    settings: Settings

    def write_to(self, file: ResultFile | None) -> None:
        """Have results go to a file from here on, or not any more."""


@dataclass(frozen=True, slots=True)
class Command:
    """``form`` is how it is typed; ``run`` gets what follows its name, without blanks around it."""

    form: str
    help: str
    run: Callable[[Shell, str], None]


def is_command(text: str) -> bool:
    """Say whether a text is for the shell itself, and no statement."""
    return text.startswith("\\") or HELP.fullmatch(text) is not None


def run(shell: Shell, text: str) -> None:
    """Run a command. Raises ProgrammingError for an unknown one or a wrong argument, and the errors of what it does."""
    name, _, rest = text.rstrip("; \t").partition(" ")
    command = _HELP if HELP.fullmatch(text) is not None else COMMANDS.get(name)
    if command is None:
        raise ProgrammingError(f"There is no command {name}; \\? lists those that there are.")
    command.run(shell, rest.strip())


def _help(shell: Shell, rest: str) -> None:
    shell.messages.tell("A statement ends with ; and may span lines. Several may stand in one line.")
    # The second name of a command is in the line of the first.
    for command in dict.fromkeys(COMMANDS.values()):
        shell.messages.tell(f"  {command.form:24} {command.help}")
    shell.messages.tell("  exit, quit, \\q, Ctrl-D   leave\n  Ctrl-C                   cancel the running statement, or what is typed")


def _describe(shell: Shell, rest: str) -> None:
    listed = _columns(shell, rest) if rest else listed_tables(shell.connection)
    shell.messages.tell(f"{shell.output.show(listed, shell.settings)}.")


def _columns(shell: Shell, table: str) -> Listed:
    try:
        return listed_columns(shell.connection, table)
    except Error as error:
        # What Spark says of these has several lines, about a statement that nobody typed.
        if error.error_class == "TABLE_OR_VIEW_NOT_FOUND":
            raise ProgrammingError(f"There is no table or view {table}; \\d alone lists those of the current schema.") from error
        if error.error_class == "PARSE_SYNTAX_ERROR":
            raise ProgrammingError(f"\\d takes the name of one table, as it stands in SQL, not {table!r}.") from error
        raise


def _vertical(shell: Shell, rest: str) -> None:
    shell.settings.is_vertical = _switched("\\x", shell.settings.is_vertical, rest)
    shell.messages.tell("Values stand " + ("one below the other." if shell.settings.is_vertical else "beside each other where they fit."))


def _timing(shell: Shell, rest: str) -> None:
    shell.settings.is_timed = _switched("\\timing", shell.settings.is_timed, rest)
    shell.messages.tell(f"The time of each statement is {'shown' if shell.settings.is_timed else 'not shown'}.")


def _report(shell: Shell, rest: str) -> None:
    forms = {form.value: form for form in ReportForm}
    if rest and rest.lower() not in forms:
        raise ProgrammingError(f"\\report takes {', '.join(forms)}, not {rest!r}.")
    shell.settings.report = forms[rest.lower()] if rest else shell.settings.report
    shell.messages.tell(f"Reports are {shell.settings.report.value}.")


def _output(shell: Shell, rest: str) -> None:
    name = rest[1:-1] if len(rest) > 1 and rest[0] == rest[-1] and rest[0] in "'\"" else rest
    file = opened(name) if name else None
    shell.write_to(file)
    shell.messages.tell("Results are shown here." if file is None else f"Results go to {file.path} until \\o alone.")


def _switched(name: str, is_on: bool, rest: str) -> bool:
    states = {"": not is_on, "on": True, "off": False}
    if rest.lower() not in states:
        raise ProgrammingError(f"{name} takes on or off, or nothing to change from one to the other, not {rest!r}.")
    return states[rest.lower()]


_HELP = Command("\\?, \\h, help", "this list", _help)
_DESCRIBE = Command("\\d [TABLE], \\dt", "tables and views of the current schema, or the columns of one", _describe)
COMMANDS = {
    "\\?": _HELP,
    "\\h": _HELP,
    "\\d": _DESCRIBE,
    "\\dt": _DESCRIBE,
    "\\x": Command("\\x [on|off]", "values of a row one below the other", _vertical),
    "\\timing": Command("\\timing [on|off]", "how long each statement took", _timing),
    "\\report": Command("\\report [off|short|full]", "what the driver did about each query", _report),
    "\\o": Command("\\o [FILE]", "results go to FILE (.csv, .json, .parquet); \\o alone ends that", _output),
}
