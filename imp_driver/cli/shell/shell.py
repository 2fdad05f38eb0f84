"""Runs what is typed: statements through the connection, commands by themselves."""

from __future__ import annotations

import time
from enum import Enum

from imp_driver.cli.shell import commands
from imp_driver.cli.shell.messages import Messages
from imp_driver.cli.shell.outputs import Output, Settings
from imp_driver.cli.shell.reader import LEAVE
from imp_driver.cli.shell.reports import report_lines
from imp_driver.cli.shell.result_file import ResultFile
from imp_driver.cli.shell.rows import rows_told
from imp_driver.dbapi.connection import Connection
from imp_driver.dbapi.cursor import Cursor
from imp_driver.errors import CANCELLED as CANCELLED_CLASS
from imp_driver.errors import Error

CANCELLED = "Cancelled."
"""What is told after Ctrl-C."""
_LONG = 10.0
"""Seconds from which on a duration is told in seconds."""


class Ended(Enum):
    """How a statement or command ended: well, with an error or by Ctrl-C, or the shell is to be left."""

    WELL = "well"
    FAILED = "failed"
    LEFT = "left"


class Shell:
    """Serves one connection. Public attributes are what commands change."""

    def __init__(self, connection: Connection, output: Output, messages: Messages, settings: Settings) -> None:
        self.connection = connection
        self.output = output
        self.messages = messages
        self.settings = settings
        self.file: ResultFile | None = None

    def run(self, text: str, where: str = "") -> Ended:
        """Run one statement or command; ``where`` stands before the message of an error."""
        try:
            if LEAVE.fullmatch(text) is not None:
                return Ended.LEFT
            if commands.is_command(text):
                commands.run(self, text)
            else:
                self._run_statement(text)
        except Error as error:
            self.messages.fail(f"{where}{_told(error, commands.is_command(text))}")
            return Ended.FAILED
        except KeyboardInterrupt:
            self.messages.fail(f"{where}{CANCELLED}")
            return Ended.FAILED
        return Ended.WELL

    def write_to(self, file: ResultFile | None) -> None:
        """Have results go to a file from here on, or not any more. Raises OperationalError: the earlier file cannot be completed."""
        earlier, self.file = self.file, file
        if earlier is not None:
            earlier.close()
            if earlier.incomplete:
                self.messages.tell(f"{earlier.path} has {rows_told(earlier.incomplete)} of results that are not complete.")

    def _run_statement(self, text: str) -> None:
        begin = time.perf_counter()
        with self.connection.cursor() as cursor:
            cursor.execute(text)
            told = self._written(cursor)
            spent = f", {duration_told(time.perf_counter() - begin)}" if self.settings.is_timed else ""
            self.messages.tell(f"{told}{spent}.")
            if cursor.sketch_report is not None:
                self.messages.add(report_lines(cursor.sketch_report, self.settings.report))

    def _written(self, cursor: Cursor) -> str:
        if cursor.description is None:
            return f"{rows_told(cursor.rowcount)} affected" if cursor.rowcount >= 0 else "Done"
        if self.file is not None:
            return f"{rows_told(self.file.write(cursor))} written to {self.file.path}"
        return self.output.show(cursor, self.settings)


def duration_told(seconds: float) -> str:
    """Return a duration in milliseconds, from ten seconds on in seconds."""
    return f"{seconds * 1000:,.0f} ms" if seconds < _LONG else f"{seconds:,.1f} s"


def _told(error: Error, is_command: bool) -> str:
    if error.error_class == CANCELLED_CLASS:
        return CANCELLED
    # A command of the shell is no statement, whose errors programs tell by their classes.
    return str(error) if is_command else f"{type(error).__name__}: {error}"
