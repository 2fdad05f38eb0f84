"""Rows that an engine without a JVM keeps for a run, and the names that Spark has for its types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa

from imp_driver.ports import KeptSize
from imp_driver.values.execution import Execution

_NAMES = {
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp_ntz",
    pa.timestamp("us", tz="UTC"): "timestamp",
}


def type_name(kind: pa.DataType) -> str:
    """Return what Spark calls a type; what has no name there is called as Arrow does."""
    return f"decimal({kind.precision},{kind.scale})" if pa.types.is_decimal(kind) else _NAMES.get(kind, str(kind))


@dataclass(slots=True)
class Engine:
    """What keeps rows: it runs queries, and has rows under names."""

    query: Callable[[str], pa.Table]
    register: Callable[[str, pa.Table], object]
    unregister: Callable[[str], object]


@dataclass(slots=True)
class MemoryRows:
    """A KeptRows.

    ``queries`` are those whose rows were kept, ``shown`` others under names, ``tables`` what is there; up to ``most`` rows are handed over.
    """

    engine: Engine
    most: int = 100
    queries: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    tables: dict[str, pa.Table] = field(default_factory=dict)

    def for_run(self, execution: Execution) -> MemoryRows:
        for name, rows in self.tables.items():
            self.engine.register(name, rows)
        return self

    def rest(self) -> None:
        for name in self.tables:
            self.engine.unregister(name)

    def hand_over(self, name: str, rows: pa.Table) -> KeptSize:
        self.tables[name] = rows
        self.engine.register(name, rows)
        return KeptSize(rows.num_rows, rows.nbytes, True)

    def show(self, name: str, query: str) -> None:
        self.shown.append(query)
        self.tables[name] = rows = self.engine.query(query)
        self.engine.register(name, rows)

    def keep(self, name: str, query: str) -> KeptSize:
        self.queries.append(query)
        rows = self.engine.query(query)
        self.tables[name] = rows
        self.engine.register(name, rows)
        return KeptSize(rows.num_rows, rows.nbytes, rows.num_rows < self.most)

    def sort(self, name: str, query: str, by: str) -> None:
        self.keep(name, query)

    def drop(self, name: str) -> None:
        if self.tables.pop(name, None) is not None:
            self.engine.unregister(name)

    def close(self) -> None:
        for name in list(self.tables):
            self.drop(name)
