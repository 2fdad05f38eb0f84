"""What the surface needs from the path behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from imp_driver.config import SketchMode
from imp_driver.observe.report import SketchReport
from imp_driver.ports import Parameters, ResultStream, TableDefinition
from imp_driver.run import Run


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one statement: ``stream`` is None without rows to fetch; ``rowcount`` is -1 where unknown."""

    stream: ResultStream | None
    rowcount: int
    report: SketchReport


class Pipeline(Protocol):
    """Runs statements of one connection. Raises only errors of this driver."""

    def run(self, run: Run) -> Outcome: ...

    def run_many(self, run: Run, rows: Sequence[Parameters]) -> Outcome:
        """Run one statement for many rows."""

    def using(self, sketch: SketchMode) -> Pipeline:
        """Return the path of the same connection with another way to use sketches."""

    def definition(self, name: tuple[str, ...]) -> TableDefinition | None:
        """Return what the catalog holds under a name."""

    def end_transaction(self) -> None:
        """Let the statements that follow read the newest versions; harmless outside a reader's transaction."""

    def interrupt(self, run: Run) -> None:
        """Cancel a run, from any thread."""

    def close(self) -> None: ...
