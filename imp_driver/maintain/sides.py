"""The tables below a block of inner joins, as far as they are small enough to be kept: their changes then need no query of the engine.

Source: IMP paper section 5.2.4. What the operators cannot evaluate exactly has no sides, and is joined by Spark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from imp_driver.capture.instrument import qualified
from imp_driver.maintain.entry import Vector
from imp_driver.maintain.request import Request
from imp_driver.maintain.upkeep import SparkReader
from imp_driver.operators.join import Side, TooManyRows, may_be_joined
from imp_driver.operators.project import NotEvaluable, project
from imp_driver.operators.select import select
from imp_driver.parse.nodes import And, Expression
from imp_driver.plan.attributes import identifiers
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.conjunctive import Step, equalities_of, joined_scans, steps_from
from imp_driver.plan.nodes import Filter, Scan
from imp_driver.plan.render import Renderer
from imp_driver.sketch.codes import IntegerArray, one_array

MOST_SIDE_ROWS = 2_000_000
"""Tables of more rows are joined by Spark."""
MOST_BYTES = 256 << 20
"""That the sides of one block may take."""


@dataclass(frozen=True, slots=True, eq=False)
class Occurrence:
    """One occurrence of a table: the columns that the block reads, by identifier, and the conditions on these alone."""

    scan: Scan
    schema: pa.Schema
    names: tuple[str, ...]
    conditions: tuple[Expression, ...]
    conditions_sql: Filter

    def rows(self, signed: pa.Table, weights: IntegerArray) -> tuple[pa.Table, IntegerArray]:
        """Return signed rows of the table as rows of this occurrence. Raises NotEvaluable."""
        rows = signed.select(self.names).rename_columns(self.schema.names).cast(self.schema)
        for condition in self.conditions:
            mask = select(rows, condition)
            rows, weights = rows.filter(pa.array(mask)), weights[mask]
        return rows, weights


class LookUp(Protocol):
    """Finds the rows of an occurrence whose column ``key`` has one of the values; None where the engine must find them."""

    def __call__(self, scan: Scan, columns: tuple[str, ...], key: str, values: pa.Array) -> pa.Table | None: ...


class _NotFound(Exception):
    """Rows of a table that is not kept cannot be looked up."""


class Sides:
    """Mutable. ``vector`` are the versions that the sides stand for."""

    def __init__(self, occurrences: Sequence[Occurrence], equalities: Sequence[tuple[str, str]]) -> None:
        self._occurrences = {each.scan.occurrence: each for each in occurrences}
        self._sides: dict[int, Side] = {}
        self._is_cleared = False
        self.vector: Vector = {}
        every = [each.scan for each in occurrences]
        self._steps = {number: steps_from(each.scan, every, equalities) for number, each in self._occurrences.items()}

    def read(self, request: Request, vector: Vector, read: SparkReader) -> None:
        """Read the tables that are small enough at the versions of ``vector``. Raises Error when Spark fails."""
        for number, each in self._occurrences.items():
            snapshot = request.snapshots[each.scan.table]
            if snapshot.row_count is not None and snapshot.row_count <= MOST_SIDE_ROWS:
                version = vector[snapshot.location].version
                relation = f"{qualified(each.scan.table)} VERSION AS OF {version}"
                text = Renderer(lambda _, relation=relation: relation, frozenset(each.schema.names)).sql(each.conditions_sql)  # type: ignore[misc]
                self._sides[number] = Side(read(text).select(each.schema.names).cast(each.schema))
        if self.memory > MOST_BYTES:
            self._sides = {}
        self.vector = vector

    @property
    def is_useful(self) -> bool:
        """Whether some table's changes may find all their partners here or by looking them up."""
        return not self._is_cleared and any(steps is not None for steps in self._steps.values())

    @property
    def is_worn(self) -> bool:
        return any(side.is_worn for side in self._sides.values())

    @property
    def memory(self) -> int:
        """Bytes."""
        return sum(side.memory for side in self._sides.values())

    def can_join(self, changed: Sequence[int]) -> bool:
        """Say whether the changes of these occurrences find all their partners here."""
        return all(map(self._can_join, changed))

    def _can_join(self, number: int) -> bool:
        steps = self._steps[number]
        return steps is not None and all(step.scan.occurrence in self._sides for step in steps)

    def joined(
        self, changed: Sequence[int], signed: pa.Table, weights: IntegerArray, look_up: LookUp | None = None
    ) -> tuple[pa.Table, IntegerArray] | None:
        """Return the signed rows of the source that the signed rows of one table make, and change its sides; None when that needs Spark.

        Args:
            changed: the occurrences of the table, ascending; each finds those before it changed already.
            look_up: finds the rows of tables that are not kept here; None when these may not be read as they are now.
        """
        if self.can_join(changed):
            look_up = None
        elif look_up is None or len(changed) != 1 or self._is_cleared or self._steps[changed[0]] is None:
            return None
        parts = []
        try:
            for number in changed:
                parts.append(self._term(number, signed, weights, look_up))
                self._apply(number, signed, weights)
        except _NotFound:
            # One occurrence has changed, and it is the last that is applied: the sides are whole.
            return None
        except (NotEvaluable, TooManyRows):
            # Some sides may have changed already.
            self.clear()
            return None
        names = parts[0][0].column_names
        return pa.concat_tables([rows.select(names) for rows, _ in parts]), np.concatenate([each for _, each in parts])

    def clear(self) -> None:
        """Forget all rows: a change could not be followed."""
        self._sides, self._is_cleared = {}, True

    def apply(self, changed: Sequence[int], signed: pa.Table, weights: IntegerArray) -> None:
        """Change the sides of a table whose changes were joined elsewhere."""
        try:
            for number in changed:
                self._apply(number, signed, weights)
        except NotEvaluable:
            self.clear()

    def _apply(self, number: int, signed: pa.Table, weights: IntegerArray) -> None:
        if number in self._sides:
            self._sides[number].apply(*self._occurrences[number].rows(signed, weights))

    def _term(self, number: int, signed: pa.Table, weights: IntegerArray, look_up: LookUp | None) -> tuple[pa.Table, IntegerArray]:
        rows, weights = self._occurrences[number].rows(signed, weights)
        steps = self._steps[number]
        assert steps is not None
        for step in steps:
            side = self._sides.get(step.scan.occurrence) or self._found(step, rows.column(step.key), look_up)
            rows, weights = side.joined(rows, weights, step.key, step.own)
        return rows, weights

    def _found(self, step: Step, keys: pa.ChunkedArray, look_up: LookUp | None) -> Side:
        """Return the rows of a table that is not kept which have one of the keys, as a side of their own."""
        occurrence = self._occurrences[step.scan.occurrence]
        names = dict(zip(occurrence.schema.names, occurrence.names, strict=True))
        found = None if look_up is None else look_up(step.scan, occurrence.names, names[step.own], one_array(keys))
        if found is None:
            raise _NotFound
        return Side(occurrence.rows(found, np.ones(len(found), dtype=np.int64))[0])


def sides_of(request: Request, key_types: Sequence[pa.DataType]) -> Sides | None:
    """Return sides without rows for a block of inner joins whose expressions the operators evaluate; None for another block."""
    block, types = request.block, request.analysis.columns
    scans = joined_scans(block.source)
    if scans is None or len(scans) < 2:
        return None
    kinds = {name: types.get(name) for name in block.columns}
    if any(kind is None for kind in kinds.values()):
        return None
    empty = pa.schema([pa.field(name, kind) for name, kind in kinds.items()]).empty_table()
    try:
        if block.where is not None:
            select(empty, block.where)
        project(empty, list(zip(block.keys, key_types, strict=True)))
        project(empty, [(each.argument, each.specification.argument_type) for each in block.aggregates if each.argument is not None])
    except NotEvaluable:
        return None
    equalities = [(one, other) for one, other in equalities_of(block.where_nodes) if _are_alike(kinds.get(one), kinds.get(other))]
    return Sides([_occurrence(scan, block, kinds) for scan in scans], equalities)


def _are_alike(one: pa.DataType | None, other: pa.DataType | None) -> bool:
    return one is not None and other is not None and may_be_joined(one, other)


def _occurrence(scan: Scan, block: BoundBlock, kinds: Mapping[str, pa.DataType | None]) -> Occurrence:
    read = [attribute for attribute in scan.output if attribute.identifier in kinds]
    own = {attribute.identifier for attribute in read}
    operands = (
        block.where.operands if isinstance(block.where, And) and len(block.where_nodes) > 1 else (block.where,)[: len(block.where_nodes)]
    )
    local = [
        (node, operand)
        for node, operand in zip(block.where_nodes, operands, strict=True)
        if operand is not None and identifiers(node) and identifiers(node) <= own
    ]
    return Occurrence(
        scan,
        pa.schema([pa.field(attribute.identifier, kinds[attribute.identifier]) for attribute in read]),
        tuple(attribute.name for attribute in read),
        tuple(operand for _, operand in local),
        Filter(scan, tuple(node for node, _ in local)),
    )
