"""What the surface needs from the path behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from imp_driver.config import SketchMode
from imp_driver.ports import Outcome, TableDefinition
from imp_driver.run import Parameters, Run


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
