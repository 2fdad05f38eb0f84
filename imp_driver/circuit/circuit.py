"""The tables below a block whose source is more than one table: kept in memory where they are small enough, else looked up.

Their changes then need no query of the engine. Source: IMP paper section 5.2.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from imp_driver.capture.instrument import qualified
from imp_driver.circuit.assemble import Assembled, assembled
from imp_driver.circuit.occurrence import Occurrence
from imp_driver.dataflow.access import Access
from imp_driver.dataflow.arrangement import Arrangement
from imp_driver.dataflow.expression.project import NotEvaluable, project
from imp_driver.dataflow.expression.select import select
from imp_driver.dataflow.operator import NotFound, Operator
from imp_driver.dataflow.zset import each_once, empty, negated
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.render import Renderer
from imp_driver.ports import SparkReader
from imp_driver.snapshot.vector import Vector
from imp_driver.values.tables import TableSnapshot, ZSet, at_version

FEW_ROWS = 50_000
"""Tables of at most so many rows are kept; rows of larger ones are looked up, in columns that all circuits share."""
MOST_SIDE_ROWS = 2_000_000
"""Tables of at most so many rows are kept where rows that are needed cannot be looked up."""
MOST_BYTES = 256 << 20
"""That the tables of one block may take."""


class LookUp(Protocol):
    """Finds signed rows whose sum are the newest of an input with one of the values; None where the engine must find them."""

    def __call__(self, name: tuple[str, ...], columns: tuple[str, ...], key: str, values: pa.Array) -> ZSet | None: ...


class Circuit:
    """Mutable. ``vector`` are the versions that the kept tables stand for; ``is_read`` says that what is small enough was read."""

    def __init__(self, operators: Assembled) -> None:
        self.operator = operators.operator
        self._occurrences = {each.scan.occurrence: each for each in operators.occurrences}
        self._arrangements: dict[int, Arrangement] = {}
        self.is_read = False
        self.vector: Vector = {}

    def read(self, snapshots: Mapping[tuple[str, ...], TableSnapshot], vector: Vector, read: SparkReader) -> None:
        """Read the tables of few rows, by ``snapshots``, at the versions of ``vector``. Raises Error when Spark fails."""
        self._read(snapshots, vector, read, FEW_ROWS)
        self.is_read = True

    def read_more(self, snapshots: Mapping[tuple[str, ...], TableSnapshot], vector: Vector, read: SparkReader) -> bool:
        """Read also tables of more rows, as ``read``; say whether any is kept now that was not."""
        before = len(self._arrangements)
        self._read(snapshots, vector, read, MOST_SIDE_ROWS)
        return len(self._arrangements) > before

    def _read(self, snapshots: Mapping[tuple[str, ...], TableSnapshot], vector: Vector, read: SparkReader, most_rows: int) -> None:
        kept = dict(self._arrangements)
        for number, each in self._occurrences.items():
            snapshot = snapshots[each.scan.table]
            if number not in kept and snapshot.row_count is not None and snapshot.row_count <= most_rows:
                version = vector[snapshot.location].version
                relation = at_version(qualified(each.scan.table), version)
                text = Renderer(lambda _, relation=relation: relation, frozenset(each.schema.names)).sql(each.conditions_sql)  # type: ignore[misc]
                kept[number] = Arrangement(each_once(read(text).select(each.schema.names).cast(each.schema)))
        if sum(each.memory for each in kept.values()) <= MOST_BYTES:
            self._arrangements = kept
        self.vector = vector

    @property
    def is_worn(self) -> bool:
        return any(each.is_worn for each in self._arrangements.values())

    @property
    def memory(self) -> int:
        """Bytes."""
        return sum(each.memory for each in self._arrangements.values())

    def described(self) -> list[str]:
        """Return a line for each operator, indented below the one that reads it."""
        return self._described(self.operator, "")

    def kept(self) -> list[str]:
        """Return a line for each occurrence of a table that is in memory."""
        return [f"{self._table(number)}: {len(each)} rows, {each.memory} bytes" for number, each in self._arrangements.items()]

    def _table(self, occurrence: int) -> str:
        return ".".join(self._occurrences[occurrence].scan.table)

    def _described(self, operator: Operator, indent: str) -> list[str]:
        if isinstance(operator, Access):
            return [f"{indent}{operator.name} {self._table(operator.occurrence)}"]
        return [f"{indent}{operator.name}", *(line for each in operator.inputs for line in self._described(each, indent + "  "))]

    def changed(self, signed: Mapping[tuple[str, ...], ZSet], look_up: LookUp) -> ZSet:
        """Return the signed rows of the source that signed rows of its inputs make; the kept tables stay as they are.

        Args:
            signed: by the name that scans have, of tables or of other maintained relations alike.
            look_up: finds rows of inputs that are not kept, as they are after these changes.

        Raises NotFound, NotEvaluable or TooManyRows: that needs the engine.
        """
        changes = {number: each.rows(signed[each.scan.table]) for number, each in self._occurrences.items() if each.scan.table in signed}
        return self.operator.step(_Inputs(self._occurrences, self._arrangements, changes, look_up))

    def apply(self, signed: Mapping[tuple[str, ...], ZSet]) -> None:
        """Change the kept tables. Raises NotEvaluable, and then they stand for the old versions."""
        kept = dict(self._arrangements)
        for number, arrangement in self._arrangements.items():
            rows = signed.get(self._occurrences[number].scan.table)
            if rows is not None:
                kept[number] = arrangement.changed_by(self._occurrences[number].rows(rows))
        self._arrangements = kept


@dataclass(frozen=True, slots=True, eq=False)
class _Inputs:
    """The inputs in one step: ``kept`` arrangements stand for the old versions, what is looked up for the new ones.

    What was found or arranged once in a step is not found again: ``found`` has the rows by what was asked for, ``newest`` the kept
    arrangements with their changes.
    """

    occurrences: Mapping[int, Occurrence]
    kept: Mapping[int, Arrangement]
    changes: Mapping[int, ZSet]
    look_up: LookUp
    found: list[tuple[tuple[int, str], pa.Array, Arrangement]] = field(default_factory=list)
    newest: dict[int, Arrangement] = field(default_factory=dict)

    def change(self, occurrence: int) -> ZSet:
        return self.changes.get(occurrence) or empty(self.occurrences[occurrence].schema)

    def arrangement(self, occurrence: int, key: str, values: pa.Array, *, is_new: bool) -> Arrangement:
        change = self.changes.get(occurrence)
        kept = self.kept.get(occurrence)
        if kept is None:
            found = self._found(occurrence, key, values)
            return found if is_new or change is None else found.changed_by(negated(change))
        return self._newest(occurrence, kept) if is_new else kept

    def whole(self, occurrence: int, *, is_new: bool) -> Arrangement:
        kept = self.kept.get(occurrence)
        if kept is None:
            raise NotFound
        return self._newest(occurrence, kept) if is_new else kept

    def _newest(self, occurrence: int, kept: Arrangement) -> Arrangement:
        change = self.changes.get(occurrence)
        if change is None:
            return kept
        if occurrence not in self.newest:
            self.newest[occurrence] = kept.changed_by(change)
        return self.newest[occurrence]

    def _found(self, number: int, key: str, values: pa.Array) -> Arrangement:
        for asked, others, arrangement in self.found:
            if asked == (number, key) and values.equals(others):
                return arrangement
        occurrence = self.occurrences[number]
        names = dict(zip(occurrence.schema.names, occurrence.names, strict=True))
        rows = self.look_up(occurrence.scan.table, occurrence.names, names[key], values)
        if rows is None:
            raise NotFound
        arrangement = Arrangement(occurrence.rows(rows))
        self.found.append(((number, key), values, arrangement))
        return arrangement


def circuit_of(block: BoundBlock, key_types: Sequence[pa.DataType]) -> Circuit | None:
    """Return a circuit that keeps no table yet for a block whose expressions the operators evaluate; None for another block."""
    try:
        operators = assembled(block)
        nothing = operators.operator.schema.empty_table()
        if block.where is not None:
            select(nothing, block.where)
        project(nothing, list(zip(block.keys, key_types, strict=True)))
        project(nothing, [(each.argument, each.specification.argument_type) for each in block.aggregates if each.argument is not None])
    except NotEvaluable:
        return None
    return Circuit(operators)
