"""The changes of the tables below a block -> signed rows of its keys and arguments.

One table: in process where the operators can evaluate the block's expressions, else in Spark. A join: a term for each occurrence of a
changed table, the three-term delta of a join in general (IMP paper 5.2.4), over sides in memory or in one query of Spark per changed table.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.capture.capture import column
from imp_driver.capture.instrument import projection_sql, qualified, rows_sql
from imp_driver.delta.contract import WEIGHT_COLUMN, ChangePlan, ChangeSource, ChangesUnavailable, SignedRows, TableSnapshot
from imp_driver.errors import CANCELLED, Error
from imp_driver.maintain.entry import TableState
from imp_driver.maintain.partners import partner_conditions
from imp_driver.maintain.sides import LookUp, Sides
from imp_driver.maintain.upkeep import SparkReader
from imp_driver.operators.contract import ProjectedRows
from imp_driver.operators.project import NotEvaluable, project
from imp_driver.operators.select import select
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.linear import is_linear
from imp_driver.plan.nodes import Scan, scans
from imp_driver.plan.render import read_identifiers
from imp_driver.reasons import DeltaSource, RecaptureReason
from imp_driver.sketch.ranges import RangePartition


@dataclass(frozen=True, slots=True)
class TableChange:
    """How one table came from the version of the state to that of the query; ``names`` are those its scans have."""

    names: frozenset[tuple[str, ...]]
    before: TableState
    snapshot: TableSnapshot
    plan: ChangePlan

    @property
    def is_empty(self) -> bool:
        return self.plan.source is DeltaSource.NONE


@dataclass(frozen=True, slots=True)
class Projected:
    """Signed rows of one changed table's share; ``rows_read`` of the table, ``growth`` of its row count where that is known."""

    rows: ProjectedRows | None
    rows_read: int
    growth: int | None


@dataclass(frozen=True, slots=True)
class Bucket:
    """The sketched attribute where it is no group key: its column of the source, SQL for its fragment, and the ranges."""

    column: str
    sql: str
    partition: RangePartition


def check_linear(block: BoundBlock, changes: Sequence[TableChange]) -> None:
    """Raise ChangesUnavailable when a table changed whose rows are compared with each other below the groups."""
    for change in changes:
        for scan in scans(block.source):
            if scan.table in change.names and not change.is_empty and not is_linear(block.source, scan.occurrence):
                detail = f"{'.'.join(scan.table)} changed, which is read in a subquery or on the optional side of a join"
                raise ChangesUnavailable(RecaptureReason.NOT_INCREMENTAL, detail)


class Changes:
    """Reads the changes of one block's tables for one maintenance step; ``in_memory`` counts tables that were joined without Spark."""

    def __init__(
        self,
        block: BoundBlock,
        key_types: tuple[pa.DataType, ...],
        source: ChangeSource,
        read: SparkReader,
        bucket: Bucket | None = None,
        sides: Sides | None = None,
    ) -> None:
        self._block = block
        self._sides = sides
        self.in_memory = 0
        self._bucket = bucket
        self._key_types = key_types
        self._source = source
        self._read = read

    def project(self, changes: Sequence[TableChange], place: int) -> Projected:
        """Return the share of ``changes[place]``, when the tables before it are new already and those after it still old."""
        change = changes[place]
        if change.is_empty:
            return Projected(None, 0, 0)
        if isinstance(self._block.source, Scan):
            return self._of_one_table(change)
        return self._of_join(changes, place)

    def _of_one_table(self, change: TableChange) -> Projected:
        block, plan = self._block, change.plan
        if plan.relation is not None:
            return self._by_spark((plan.relation,), change, None)
        signed = self._source.read(plan, block.columns)
        try:
            return Projected(_in_process(signed, block, self._key_types, self._bucket), len(signed.weights), int(signed.weights.sum()))
        except NotEvaluable:
            view = _view_name()
            return self._by_spark((view,), change, signed, view)

    def _of_join(self, changes: Sequence[TableChange], place: int) -> Projected:
        change = changes[place]
        if change.plan.relation is not None:
            if self._sides is not None:
                self._sides.clear()
            return self._of_join_by_spark(changes, place, None)
        signed = self._source.read(change.plan, self._columns(change))
        if self._sides is None:
            return self._of_join_by_spark(changes, place, signed)
        changed = [scan.occurrence for scan in scans(self._block.source) if scan.table in change.names]
        # The other tables are looked up as they are now, so no other one may have changed.
        is_alone = all(each.is_empty for each in changes if each is not change)
        joined = self._sides.joined(changed, signed.rows, signed.weights, self._looking_up(changes, change) if is_alone else None)
        if joined is None:
            self._sides.apply(changed, signed.rows, signed.weights)
            return self._of_join_by_spark(changes, place, signed)
        try:
            rows = _in_process(SignedRows(*joined), self._block, self._key_types, self._bucket)
        except NotEvaluable:
            return self._of_join_by_spark(changes, place, signed)
        self.in_memory += 1
        return Projected(rows, len(signed.weights), int(signed.weights.sum()))

    def _looking_up(self, changes: Sequence[TableChange], change: TableChange) -> LookUp:
        def look_up(scan: Scan, columns: tuple[str, ...], key: str, values: pa.Array) -> pa.Table | None:
            # Another occurrence of the changed table would be needed as it was before.
            if scan.table in change.names:
                return None
            return self._source.rows_with(next(each.snapshot for each in changes if scan.table in each.names), columns, key, values)

        return look_up

    def _of_join_by_spark(self, changes: Sequence[TableChange], place: int, signed: SignedRows | None) -> Projected:
        change = changes[place]
        view = "" if signed is None else _view_name()
        relation = change.plan.relation or view
        terms = []
        for scan in scans(self._block.source):
            if scan.table in change.names:
                narrowed = {} if signed is None else partner_conditions(self._block, scan, signed.rows)

                def relation_of(other: Scan, scan: Scan = scan, narrowed: Mapping[int, str] = narrowed) -> str:
                    found = self._at(other, scan, changes, place, relation)
                    return f"(SELECT * FROM {found} WHERE {narrowed[other.occurrence]})" if other.occurrence in narrowed else found

                terms.append(rows_sql(self._block, relation_of, scan.occurrence))
        return self._by_spark(tuple(terms), change, signed, view)

    def _at(self, other: Scan, changed: Scan, changes: Sequence[TableChange], place: int, relation: str) -> str:
        """Return what stands for an occurrence in the term of the changed one."""
        if other.occurrence == changed.occurrence:
            return relation
        number = next(number for number, each in enumerate(changes) if other.table in each.names)
        is_new = number < place or (number == place and other.occurrence < changed.occurrence)
        version = changes[number].snapshot.version if is_new else changes[number].before.version
        return f"{qualified(other.table)} VERSION AS OF {version}"

    def _columns(self, change: TableChange) -> tuple[str, ...]:
        wanted = read_identifiers(self._block.source) | frozenset(self._block.columns)
        names = [
            each.name
            for scan in scans(self._block.source)
            if scan.table in change.names
            for each in scan.output
            if each.identifier in wanted
        ]
        return tuple(dict.fromkeys(names))

    def _by_spark(self, relations: tuple[str, ...], change: TableChange, signed: SignedRows | None, view: str = "") -> Projected:
        text = projection_sql(self._block, *relations, bucket=None if self._bucket is None else self._bucket.sql)
        if signed is None:
            table = _changes_read(text, self._read)
            return Projected(self._from_spark(table), change.plan.rows or table.num_rows, None)
        rows = signed.rows.append_column(WEIGHT_COLUMN, pa.array(signed.weights))
        table = _changes_read(text, lambda text: self._read(text, view, rows))
        return Projected(self._from_spark(table), len(signed.weights), int(signed.weights.sum()))

    def _from_spark(self, table: pa.Table) -> ProjectedRows:
        keys = tuple(column(table, f"key_{index}").cast(kind) for index, kind in enumerate(self._key_types))
        arguments = tuple(
            None if aggregate.argument_sql is None else column(table, f"argument_{index}").cast(aggregate.specification.argument_type)
            for index, aggregate in enumerate(self._block.aggregates)
        )
        weights = column(table, WEIGHT_COLUMN).cast(pa.int64()).to_numpy(zero_copy_only=False)
        fragments = None
        if self._bucket is not None:
            fragments = column(table, "cell_fragment").to_numpy(zero_copy_only=False).astype(np.int32)
        return ProjectedRows(keys, arguments, np.asarray(weights, dtype=np.int64), fragments)


def _view_name() -> str:
    return f"__imp_changes_{uuid.uuid4().hex}"


def _changes_read(text: str, read: Callable[[str], pa.Table]) -> pa.Table:
    """Let Spark read changes; what it cannot read (files vacuumed meanwhile, a feed with gaps) is captured again."""
    try:
        return read(text)
    except Error as error:
        if error.error_class == CANCELLED:
            raise
        raise ChangesUnavailable(RecaptureReason.CHANGES_UNREADABLE, str(error).split("\n", 1)[0]) from error


def _in_process(signed: SignedRows, block: BoundBlock, key_types: tuple[pa.DataType, ...], bucket: Bucket | None) -> ProjectedRows:
    rows, weights = signed.rows, signed.weights
    if block.where is not None:
        mask = select(rows, block.where)
        rows, weights = rows.filter(pa.array(mask)), weights[mask]
    expressions = list(zip(block.keys, key_types, strict=True))
    for aggregate in block.aggregates:
        if aggregate.argument is not None:
            expressions.append((aggregate.argument, aggregate.specification.argument_type))
    arrays = iter(project(rows, expressions))
    keys = tuple(next(arrays) for _ in block.keys)
    arguments = tuple(None if aggregate.argument is None else next(arrays) for aggregate in block.aggregates)
    fragments = None if bucket is None else bucket.partition.locate(rows.column(bucket.column).cast(bucket.partition.type))
    return ProjectedRows(keys, arguments, weights, fragments)
