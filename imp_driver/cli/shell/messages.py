"""What is said beside results: errors, numbers of rows, reports."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from imp_driver.values.plain import plain

if TYPE_CHECKING:
    from rich.console import Console


class Messages(Protocol):
    """Where messages go."""

    def tell(self, text: str) -> None: ...

    def add(self, lines: Iterable[str]) -> None:
        """Tell what stands behind the results, and may be overlooked."""

    def fail(self, text: str) -> None: ...


class Plain:
    """Messages on standard error, so that standard output has results alone."""

    def tell(self, text: str) -> None:
        print(plain(text), file=sys.stderr)

    def add(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.tell(line)

    def fail(self, text: str) -> None:
        self.tell(text)


class OnConsole:
    """Messages between the tables; errors of a script go to standard error, as those of other commands."""

    def __init__(self, console: Console, is_script: bool) -> None:
        self._console = console
        self._is_script = is_script

    def tell(self, text: str) -> None:
        self._print(text, "")

    def add(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._print(line, "dim")

    def fail(self, text: str) -> None:
        if self._is_script:
            print(plain(text), file=sys.stderr)
        else:
            self._print(text, "red")

    def _print(self, text: str, style: str) -> None:
        self._console.print(plain(text), style=style, highlight=False, markup=False, soft_wrap=True)
