"""The changes of the tables below a block -> signed rows of its keys and arguments.

In process where the operators can evaluate what stands below the groups and find the rows that they need, else in Spark. There a join has a
term for each occurrence of a changed table, the three-term delta of a join in general (IMP paper 5.2.4), in one query per changed table.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from imp_driver.capture.buckets import CutColumn
from imp_driver.capture.capture import column
from imp_driver.capture.instrument import projection_sql, qualified, rows_sql
from imp_driver.circuit.circuit import Circuit, LookUp
from imp_driver.dataflow.arrangement import TooManyRows
from imp_driver.dataflow.expression.project import NotEvaluable, project
from imp_driver.dataflow.expression.select import selected
from imp_driver.dataflow.operator import NotFound
from imp_driver.errors import Error, raise_if_cancelled
from imp_driver.maintain.partners import partner_conditions
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.linear import is_linear
from imp_driver.plan.nodes import Scan, scans
from imp_driver.plan.render import read_identifiers
from imp_driver.ports import SparkReader
from imp_driver.reasons import DeltaSource, RecaptureReason
from imp_driver.snapshot.vector import TableState
from imp_driver.values.aggregates import ProjectedRows
from imp_driver.values.cuts import CutName
from imp_driver.values.quoting import quoted_name
from imp_driver.values.tables import (
    WEIGHT_COLUMN,
    ChangePlan,
    ChangeSource,
    ChangesUnavailable,
    TableSnapshot,
    ZSet,
    at_version,
    with_count,
)


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


def are_read_in_process(changes: Sequence[TableChange]) -> bool:
    """Say whether the signed rows of every changed table are had without the engine."""
    return all(change.plan.relation is None for change in changes)


def is_linear_in(block: BoundBlock, change: TableChange) -> bool:
    """Say whether the engine can follow a change: no operator below the groups compares rows of that table with each other."""
    own = [scan for scan in scans(block.source) if scan.table in change.names]
    return change.is_empty or all(is_linear(block.source, scan.occurrence) for scan in own)


def columns_read(block: BoundBlock, change: TableChange) -> tuple[str, ...]:
    """Return the columns of a changed table that a block reads, wherever it does."""
    if isinstance(block.source, Scan):
        return block.columns
    wanted = read_identifiers(block.source) | frozenset(block.columns)
    changed = [scan for scan in scans(block.source) if scan.table in change.names]
    return tuple(dict.fromkeys(each.name for scan in changed for each in scan.output if each.identifier in wanted))


def check_columns(block: BoundBlock, change: TableChange) -> None:
    """Refuse to follow a change over which a column that the block reads became another one. Raises ChangesUnavailable."""
    if others := change.plan.lost(columns_read(block, change)):
        table = ".".join(min(change.names))
        raise ChangesUnavailable(RecaptureReason.TABLE_REPLACED, f"{', '.join(others)} of {table} became another column")


class Changes:
    """Reads the changes of one block's tables for one maintenance step; ``is_in_memory`` says that several tables needed no engine."""

    def __init__(
        self,
        block: BoundBlock,
        key_types: tuple[pa.DataType, ...],
        source: ChangeSource,
        read: SparkReader,
        cuts: Mapping[CutName, CutColumn],
    ) -> None:
        self._block = block
        self._cuts = cuts
        self._key_types = key_types
        self._source = source
        self._read = read
        self.signed: dict[tuple[str, ...], ZSet] = {}
        self.is_in_memory = False

    def shares(self, changes: Sequence[TableChange], circuit: Circuit | None) -> list[Projected]:
        """Return the share of each table; where tables are joined in process the first one that changed has them all.

        Raises:
            ChangesUnavailable: that cannot be followed.
        """
        if isinstance(self._block.source, Scan):
            return [_NONE if change.is_empty else self._of_one_table(change) for change in changes]
        for change in changes:
            if not change.is_empty and change.plan.relation is None:
                rows = self._source.read(change.plan, self._columns(change))
                self.signed.update(dict.fromkeys(change.names, rows))
        found = self._followed(changes, circuit)
        if found is not None:
            self.is_in_memory = True
            return found
        self._check_linear(changes)
        return [_NONE if change.is_empty else self._of_join_by_spark(changes, place) for place, change in enumerate(changes)]

    def _followed(self, changes: Sequence[TableChange], circuit: Circuit | None) -> list[Projected] | None:
        """Return the shares where the operators can follow the changes; None when the engine is needed."""
        if circuit is None or not are_read_in_process(changes):
            return None
        try:
            joined = self._joined(changes, circuit)
            rows: ProjectedRows | None = _in_process(joined, self._block, self._key_types, self._cuts)
        except (NotFound, NotEvaluable, TooManyRows):
            return None
        shares = []
        for change in changes:
            shares.append(_NONE if change.is_empty else self._share(rows, change))
            rows = rows if change.is_empty else None
        return shares

    def _joined(self, changes: Sequence[TableChange], circuit: Circuit) -> ZSet:
        look_up = self._looking_up(changes)
        try:
            return circuit.changed(self.signed, look_up)
        except NotFound:
            if not circuit.is_read or not self._is_more_read(changes, circuit):
                raise
        return circuit.changed(self.signed, look_up)

    def _is_more_read(self, changes: Sequence[TableChange], circuit: Circuit) -> bool:
        """Keep larger tables for rows that could not be looked up; say whether there are any."""
        snapshots = {name: change.snapshot for change in changes for name in change.names}
        vector = {change.snapshot.location: change.before for change in changes}
        try:
            return circuit.read_more(snapshots, vector, self._read)
        except Error as error:
            raise_if_cancelled(error)
            return False

    def _share(self, rows: ProjectedRows | None, change: TableChange) -> Projected:
        weights = self.signed[next(iter(change.names))].weights
        return Projected(rows, len(weights), int(weights.sum()))

    def _check_linear(self, changes: Sequence[TableChange]) -> None:
        for change in changes:
            if not is_linear_in(self._block, change):
                detail = f"{'.'.join(min(change.names))} changed, which is read in a subquery or on the optional side of a join"
                raise ChangesUnavailable(RecaptureReason.NOT_INCREMENTAL, detail)

    def _of_one_table(self, change: TableChange) -> Projected:
        block, plan = self._block, change.plan
        if plan.relation is not None:
            return self._by_spark((plan.relation,), change, None)
        signed = self._source.read(plan, block.columns)
        try:
            return Projected(_in_process(signed, block, self._key_types, self._cuts), len(signed.weights), int(signed.weights.sum()))
        except NotEvaluable:
            view = _view_name()
            return self._by_spark((view,), change, signed, view)

    def _looking_up(self, changes: Sequence[TableChange]) -> LookUp:
        def look_up(name: tuple[str, ...], columns: tuple[str, ...], key: str, values: pa.Array) -> ZSet | None:
            return self._source.rows_with(next(each.snapshot for each in changes if name in each.names), columns, key, values)

        return look_up

    def _of_join_by_spark(self, changes: Sequence[TableChange], place: int) -> Projected:
        """Return the share of one table when those before it are new already and those after it still old."""
        change = changes[place]
        signed = self.signed.get(next(iter(change.names)))
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
        return at_version(qualified(other.table), version)

    def _columns(self, change: TableChange) -> tuple[str, ...]:
        # Rows of which nothing is read count all the same.
        return columns_read(self._block, change) or (_any_column(self._block, change),)

    def _by_spark(self, relations: tuple[str, ...], change: TableChange, signed: ZSet | None, view: str = "") -> Projected:
        text = projection_sql(self._block, *relations, cuts=list(self._cuts.values()))
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
        fragments = {
            name: column(table, f"cell_fragment_{place}").to_numpy(zero_copy_only=False).astype(np.int32)
            for place, name in enumerate(self._cuts)
        }
        return ProjectedRows(keys, arguments, np.asarray(weights, dtype=np.int64), fragments)


def signed_rows(plan: ChangePlan, columns: tuple[str, ...], source: ChangeSource, read: Callable[[str], pa.Table]) -> ZSet:
    """Return some columns of the rows that came and went by a plan, in process or by Spark through ``read``. Raises as these do."""
    if plan.relation is None:
        return source.read(plan, columns)
    rows = read(f"SELECT {', '.join(map(quoted_name, (*columns, WEIGHT_COLUMN)))} FROM {plan.relation}")
    return ZSet(rows.select(columns), np.asarray(rows.column(WEIGHT_COLUMN).to_numpy(), dtype=np.int64))


_NONE = Projected(None, 0, 0)


def _any_column(block: BoundBlock, change: TableChange) -> str:
    scan = next(scan for scan in scans(block.source) if scan.table in change.names)
    names = [each.name for each in scan.output]
    return next((name for name in names if change.plan.columns is None or name in change.plan.columns), names[0])


def _view_name() -> str:
    return f"__imp_changes_{uuid.uuid4().hex}"


def _changes_read(text: str, read: Callable[[str], pa.Table]) -> pa.Table:
    """Let Spark read changes; what it cannot read (files vacuumed meanwhile, a feed with gaps) is captured again."""
    try:
        return read(text)
    except Error as error:
        raise_if_cancelled(error)
        raise ChangesUnavailable(RecaptureReason.CHANGES_UNREADABLE, str(error).split("\n", 1)[0]) from error


def _in_process(signed: ZSet, block: BoundBlock, key_types: tuple[pa.DataType, ...], cuts: Mapping[CutName, CutColumn]) -> ProjectedRows:
    passed = selected(ZSet(with_count(signed.rows, len(signed.weights)), signed.weights), block.where)
    rows = passed.rows
    expressions = list(zip(block.keys, key_types, strict=True))
    for aggregate in block.aggregates:
        if aggregate.argument is not None:
            expressions.append((aggregate.argument, aggregate.specification.argument_type))
    arrays = iter(project(rows, expressions))
    keys = tuple(next(arrays) for _ in block.keys)
    arguments = tuple(None if aggregate.argument is None else next(arrays) for aggregate in block.aggregates)
    fragments = {name: each.partition.locate(rows.column(each.name).cast(each.partition.type)) for name, each in cuts.items()}
    return ProjectedRows(keys, arguments, passed.weights, fragments)
