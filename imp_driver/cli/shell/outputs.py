"""Where results go: tables on a terminal, CSV or JSON on standard output."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from imp_driver.cli.shell.reports import ReportForm
from imp_driver.cli.shell.rows import FORMATS, Result, rows_told

if TYPE_CHECKING:
    from rich.console import Console


class Format(Enum):
    """How results are written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


@dataclass(slots=True)
class Settings:
    """What commands change: one value below the other, the time of each statement, how much of its report."""

    is_vertical: bool = False
    is_timed: bool = True
    report: ReportForm = ReportForm.SHORT


class Output(Protocol):
    """Shows a result."""

    def show(self, result: Result, settings: Settings) -> str:
        """Write the rows and return what there is to say about their number."""


class Tables:
    """Results for people."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def show(self, result: Result, settings: Settings) -> str:
        from imp_driver.cli.shell.tables import show

        return show(result, self._console, settings.is_vertical)


class Records:
    """Results for programs: several of them as CSV have an empty line between them, and a header each."""

    def __init__(self, chosen: Format) -> None:
        self._format = chosen
        self._is_first = True

    def show(self, result: Result, settings: Settings) -> str:
        if not self._is_first and self._format is Format.CSV:
            sys.stdout.write("\r\n")
        self._is_first = False
        count = sum(FORMATS[self._format.value](sys.stdout, result, True))
        sys.stdout.flush()
        return rows_told(count)
