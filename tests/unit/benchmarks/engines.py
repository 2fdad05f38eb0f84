"""Connections without an engine: they keep what a benchmark does to tables as a number, and answer with it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

import imp_driver
from benchmarks.harness import Rows, Systems
from imp_driver.cli.synthetic import SyntheticTable
from imp_driver.reasons import Decision, Reason
from imp_driver.values.report import SketchReport

_CHANGES = ("INSERT", "DELETE", "UPDATE", "RESTORE")


@dataclass(slots=True)
class Tables:
    """What all connections see: how many changes there were. Sketches are by connection, which has its store, and template."""

    changes: int = 0
    sketches: dict[tuple[str, str], int] = field(default_factory=dict)
    statements: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Cursor:
    rows: Rows
    sketch_report: SketchReport | None = None
    description: tuple[tuple[str], ...] = ()
    rowcount: int = -1

    def fetchall(self) -> Rows:
        return self.rows

    def close(self) -> None: ...

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *error: object) -> None: ...


@dataclass(slots=True)
class Connection:
    """``name`` tells sketches of connections apart, "" is one without. ``is_wrong`` gives answers of before the first change.

    With a ``batch`` sketches are maintained as soon as that many changes were made since ``opened``.
    """

    tables: Tables
    name: str = ""
    is_wrong: bool = False
    batch: int | None = None
    opened: int = 0

    @property
    def steps(self) -> int:
        """Of maintenance in the background."""
        return 0 if self.batch is None else (self.tables.changes - self.opened) // self.batch

    def execute(self, text: str) -> Cursor:
        self.tables.statements.append(text)
        verb = text.split(maxsplit=1)[0]
        if text.startswith("DROP SKETCH ALL"):
            for key in self._own:
                del self.tables.sketches[key]
        elif text.startswith("DROP SKETCH "):
            self.tables.sketches = {key: each for key, each in self.tables.sketches.items() if repr(key) != text[len("DROP SKETCH ") :]}
        elif text == "SHOW SKETCHES":
            rows: Rows = [(repr(key), 330_008, self.steps, 2.0 * self.steps) for key in self._own]
            return Cursor(rows, description=(("sketch_id",), ("bytes",), ("eager_steps",), ("eager_ms",)))
        elif text.startswith("DESCRIBE HISTORY"):
            return Cursor([(self.tables.changes,)])
        elif verb in _CHANGES:
            self.tables.changes += 1
        elif verb == "SELECT":
            report = self._report(text)
            return Cursor([(1, 0.5), (2, -1.0 if self.is_wrong else float(self.tables.changes))], report)
        return Cursor([])

    def cursor(self) -> Any:
        return _Executing(self)

    def close(self) -> None: ...

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *error: object) -> None: ...

    @property
    def _own(self) -> list[tuple[str, str]]:
        """The sketches of this connection's store."""
        return [key for key in self.tables.sketches if key[0] == self.name]

    def _report(self, text: str) -> SketchReport:
        if not self.name:
            return SketchReport(Decision.NOT_USED, Reason.SKETCH_OFF, times={"parse": 0.5, "execute": 40.0})
        key = (self.name, re.sub(r"\d+", "?", text))
        known = self.tables.sketches.get(key)
        self.tables.sketches[key] = self.tables.changes
        if known is None:
            return SketchReport(Decision.CAPTURED, Reason.FILTERED, sketch_id=repr(key), times={"capture": 300.0, "execute": 20.0})
        is_fresh = known == self.tables.changes or (self.batch is not None and (self.tables.changes - self.opened) % self.batch == 0)
        decision = Decision.FRESH if is_fresh else Decision.MAINTAINED
        return SketchReport(decision, Reason.FILTERED, sketch_id=repr(key), times={"maintain": 3.0, "execute": 20.0})


@dataclass(slots=True)
class Opened:
    """Stands for ``imp_driver.connect``; connections of a sketch mode are wrong, or nothing is done in the background of any."""

    tables: Tables
    wrong: str = "none"
    is_stuck: bool = False

    def connect(self, **options: Any) -> Connection:
        mode = str(options.get("sketch", "lazy"))
        name = "" if mode == "off" else str(sorted(options.items()))
        batch = None if self.is_stuck else options.get("eager_batch")
        return Connection(self.tables, name, mode == self.wrong, batch, self.tables.changes)


@dataclass(slots=True)
class _Executing:
    """What ``connection.cursor()`` gives: executes more than once."""

    connection: Connection

    def execute(self, text: str) -> Cursor:
        return self.connection.execute(text)


def systems(*, is_wrong: bool = False) -> Systems:
    """Return systems over tables of nothing; with ``is_wrong`` IMP gives wrong answers."""
    tables = Tables()
    connections = Connection(tables), Connection(tables, "FM"), Connection(tables, "IMP", is_wrong)
    plain, full, incremental = (cast(imp_driver.Connection, each) for each in connections)
    return Systems(SyntheticTable("r500", 1_000_000), plain, full, incremental)
