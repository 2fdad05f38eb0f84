"""A world whose recursions are left to the engine, and what this is asked to keep for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from imp_driver.answer.recursion.round_texts import LEVEL
from imp_driver.middleware import Middleware
from imp_driver.ports import KeptSize, ResultStream
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import Policy, RecursionPlace
from imp_driver.values.options import Options
from tests.soundness.kept_rows import MemoryRows
from tests.unit.answer.test_answers import Asked, World


@dataclass(slots=True)
class Watched(MemoryRows):
    """Calls ``before`` ahead of each query; ``levels`` has the round of each row."""

    before: Callable[[], object] = lambda: None
    levels: dict[tuple[object, ...], int] = field(default_factory=dict)

    def keep(self, name: str, query: str) -> KeptSize:
        self.before()
        size = MemoryRows.keep(self, name, query)
        for row in self.tables[name].to_pylist():
            level = row.pop(LEVEL, None)
            if level is not None:
                self.levels[tuple(row.values())] = level
        return size


@dataclass(slots=True)
class Keeping(Asked):
    """Remembers what was kept for each query; ``most`` is how many rows are few, ``reading`` answers the driver's own questions."""

    kept: list[Watched] = field(default_factory=list)
    most: int = 100
    before: Callable[[], object] = lambda: None
    reading: Callable[..., pa.Table] | None = None
    executing: Callable[[], object] = lambda: None

    def read(self, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        return Asked.read(self, text, execution, most_bytes) if self.reading is None else self.reading(text)

    def execute(self, execution: Execution) -> ResultStream:
        self.executing()
        return Asked.execute(self, execution)

    def kept_rows(self, execution: Execution) -> Watched:
        self.kept.append(Watched(Asked.kept_rows(self, execution).engine, self.most, before=self.before))
        return self.kept[-1]


class Left(World):
    """A world whose recursions are left to the engine, unless an option says otherwise."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.keeping = Keeping(self.warehouse)
        given: dict[str, Any] = {"policy": Policy.INCREMENTAL, "recursion": RecursionPlace.SPARK, **options}
        self.path = Middleware(self.keeping, self.warehouse, self.sketches, Options(**given))

    def is_clean(self) -> bool:
        """Say whether the engine has no rows but those that are kept for other readings."""
        return bool(self.keeping.kept) and {name for each in self.keeping.kept for name in each.tables} == self.path.kept_runs.names
