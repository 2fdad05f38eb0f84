"""Keeps the record of one connection's queries, and turns the record of all into advice."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.advise.advice import MOST_READ, Advice, Demand, Layout, advice_for, property_for, unserved
from imp_driver.advise.estimate import Shares, shares
from imp_driver.advise.sample import Sample, estimated_shares, fraction_for, sample_sql
from imp_driver.capture.capture import column
from imp_driver.errors import Error, OperationalError, raise_if_cancelled
from imp_driver.maintain.derive import retained_groups
from imp_driver.maintain.questions import Question
from imp_driver.maintain.request import Request
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.workload import Record
from imp_driver.parse.statement import Statement, parse, per_statement
from imp_driver.parse.template import template_text, text_and_names, text_without_constants
from imp_driver.plan.nodes import Scan
from imp_driver.ports import RelationKind, Session
from imp_driver.reasons import Reason
from imp_driver.rewrite.use import plan_use
from imp_driver.sketch.coverage import FileFragments
from imp_driver.sketch.key_cut import KeyCut
from imp_driver.sketch.sketch import Sketch
from imp_driver.values.execution import Execution
from imp_driver.values.expressions import Column
from imp_driver.values.failures import described
from imp_driver.values.options import Options
from imp_driver.values.quoting import qualified
from imp_driver.values.report import SketchReport
from imp_driver.values.tables import ChangeSource, TableSnapshot

_LOG = logging.getLogger("imp_driver.advise")
RUNS_BEFORE_SAMPLE = 10
"""A sample costs about as much as one run of its query, so it is taken once a query that no sketch serves has run so often."""
_NOT_RECORDED = (Reason.ANSWERED, Reason.SKETCH_OFF, Reason.NOT_A_QUERY, Reason.INTERNAL, Reason.TABLE_CHANGED_MEANWHILE)


class _NoFiles:
    """Statistics of no file: what a recorded request keeps, since those of every table version would fill the memory."""

    sizes = np.zeros(0, np.int64)
    rows = np.zeros(0, np.int64)

    def bounds(self, column: str) -> tuple[pa.Array, pa.Array, npt.NDArray[np.int64]]:
        return pa.nulls(0), pa.nulls(0), np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the table of some records lies now."""

    snapshot: TableSnapshot
    layout: Layout


class Advisor:
    """Records what one connection asks. Only ``advise`` raises: a query must not fail for the sake of its record."""

    def __init__(self, session: Session, source: ChangeSource, sketches: Sketches) -> None:
        self._session = session
        self._source = source
        self._sketches = sketches
        self._workload = sketches.workload
        self._asked: tuple[str, list[Request]] = ("", [])

    def asked(self, execution: Execution, requests: list[Request]) -> None:
        """Remember what the run asks for, until ``record``; blocks that no key may cut are nothing to cluster for."""
        self._asked = (execution.tag, [request for request in requests if request.analysis.safe])

    def record(self, execution: Execution, statement: Statement, report: SketchReport) -> None:
        """Record one run of a query, once it has answered."""
        requests = self._asked[1] if self._asked[0] == execution.tag else []
        try:
            if report.reason is not Reason.SKETCH_OFF and statement.alike.tree is not None:
                question = Question(*text_and_names(statement.alike))
                self._sketches.questions.note(question, report.served_by, sum(report.times.values()), report.not_answered)
            if report.reason in _NOT_RECORDED:
                return
            if not requests:
                self._workload.add(replace(_refused(statement), milliseconds=_spent(report), reason=report.reason.name))
            for request in requests:
                self._record(execution, request, report)
        except Exception as error:
            _LOG.warning("A query could not be recorded for ADVISE: %s", described(error))

    def _record(self, execution: Execution, request: Request, report: SketchReport) -> None:
        template = request.template.identifier
        own = next((each for each in (report, *report.also) if each.template == template), None)
        size = int(_snapshot_of(request).files.sizes.sum())
        read = size if own is None or own.bytes_kept is None or not own.bytes_total else size * own.bytes_kept // own.bytes_total
        # Where only other blocks of the query were cut, the report does not say why this one was not.
        reason = own.reason.name if own is not None else "" if report.template is not None else report.reason.name
        record = _record_of(request, self._workload.find(template))
        total = self._workload.add(
            replace(
                record,
                runs=1,
                milliseconds=_spent(report),
                bytes=read,
                last_bytes=read,
                table_bytes=size,
                reason=reason,
                beside=_beside(record, own),
            ),
            replace(request, snapshots={name: replace(each, files=_NoFiles()) for name, each in request.snapshots.items()}),
        )
        if reason == Reason.NOT_CLUSTERED.name and total.runs % RUNS_BEFORE_SAMPLE == 0 and not total.shares:
            self._note(request, self._sampled(request, execution))

    def close(self) -> None:
        """Estimate what costs no query, and write the record."""
        for template, request in self._workload.questions().items():
            record = self._workload.find(template)
            try:
                found = self._from_state(request) if record is not None and _is_worth_an_estimate(record) else None
                if found is not None:
                    self._note(request, found)
            except Exception as error:
                _LOG.warning("An estimate for ADVISE SKETCHES failed: %s", described(error))
        self._workload.write()

    def advise(self, execution: Execution) -> list[Advice]:
        """Return which clusterings would pay, then the templates that none would help; of tables that the session may read.

        Raises:
            Error: a query of the driver's own failed.
        """
        questions = self._workload.questions()
        by_table: dict[tuple[str, str], list[Record]] = {}
        for record in filter(self._may_be_told, self._workload.records()):
            by_table.setdefault((record.table, record.table_id), []).append(record)
        found: list[Advice] = []
        rest: list[Record] = []
        for (table, table_id), records in by_table.items():
            place = self._place(table, table_id, records, execution)
            if place is None:
                # A table that is gone or was made anew needs no advice; a statement without a table is only counted.
                rest += [record for record in records if not record.table_id]
                continue
            demands = [self._demand(record, questions.get(record.template), place, execution) for record in records]
            advice = advice_for(place.layout, demands, _beside_in(self._workload.records(), table))
            found += [] if advice is None else [advice]
            rest += [demand.record for demand in demands if advice is None or advice.clustering not in demand.record.attributes]
        found.sort(key=lambda each: each.saved or 0, reverse=True)
        return found + self._properties(execution) + unserved(rest)

    def _properties(self, execution: Execution) -> list[Advice]:
        """Return what would make following the tables cheaper that this process has followed. Raises Error."""
        found: list[Advice] = []
        for each in self._sketches.relations.upkeep_times.every():
            if self._session.may_read(each.table) and self._session.resolve(each.table) is not None:
                detail = self._session.read(f"DESCRIBE DETAIL {qualified(each.table)}", execution)
                advice = property_for(each, dict(detail.column("properties")[0].as_py() or ()))
                found += [] if advice is None else [advice]
        return found

    def questions(self) -> list[Question]:
        """Return what was asked in this process, of tables that the session may read."""
        return [each for each in self._sketches.questions.every() if all(map(self._session.may_read, each.names))]

    def _may_be_told(self, record: Record) -> bool:
        return not record.table or self._session.may_read(tuple(record.table.split(".")))

    def _place(self, table: str, table_id: str, records: Sequence[Record], execution: Execution) -> _Place | None:
        name = tuple(table.split("."))
        relation = self._session.resolve(name) if table_id else None
        if relation is None or relation.location is None or relation.kind is not RelationKind.DELTA_TABLE:
            return None
        try:
            snapshot = self._source.snapshot(relation.location)
        except OperationalError:
            return None
        if snapshot.table_id != table_id:
            return None
        detail = self._session.read(f"DESCRIBE DETAIL {qualified(relation.name)}", execution)
        attributes = dict.fromkeys(name for record in records for name in record.attributes)
        return _Place(
            snapshot,
            Layout.of(relation.name, table_id, snapshot.files, tuple(attributes), detail.column("partitionColumns")[0].as_py()),
        )

    def _demand(self, record: Record, question: Request | None, place: _Place, execution: Execution) -> Demand:
        """Bring the estimates of a record up to date where this process knows what was asked."""
        if question is None or _snapshot_of(question).table_id != place.snapshot.table_id:
            return Demand(record)
        request = replace(question, snapshots={**question.snapshots, _table_of(question): place.snapshot})
        try:
            found = self._from_state(request) or self._known_shares(request) or self._sampled(request, execution)
        except Error as error:
            raise_if_cancelled(error)
            _LOG.warning("A sample for ADVISE SKETCHES failed: %s", described(error))
            return Demand(record)
        self._note(request, found)
        return Demand(replace(record, shares={**record.shares, **found}), self._bytes_now(request))

    def _known_shares(self, request: Request) -> Mapping[str, Shares]:
        """Return what this process has estimated before, so that one template is sampled once."""
        known = self._workload.find(request.template.identifier)
        return {} if known is None else known.shares

    def _bytes_now(self, request: Request) -> int | None:
        """Return what a query with a maintained state reads from the table as it lies there; None without a state."""
        known = self._sketches.state_of(request)
        if known is None:
            return None
        relation, block = known
        with relation.ownership.held():
            groups = relation.in_memory
            cut = None if groups is None else next((each for each in groups.cuts.values() if isinstance(each, KeyCut)), None)
            if groups is None or cut is None:
                return None
            fragments, rows, partition = cut.sketch(retained_groups(groups.state, block)), cut.fragment_rows(), cut.partition
        files = FileFragments.locate(_snapshot_of(request).files, cut.attribute, partition)
        return plan_use(Sketch({}, cut.attribute, partition, fragments), [files], rows, Options().maximum_runs).coverage.bytes_kept

    def _from_state(self, request: Request) -> dict[str, Shares] | None:
        """Estimate from the maintained state; None without one."""
        known = self._sketches.state_of(request)
        if known is None:
            return None
        relation, block = known
        with relation.ownership.held():
            state = relation.state
            if state is None:
                return None
            slots = np.flatnonzero(state.alive)
            passes = retained_groups(state, block)[slots]
            columns = state.snapshot()
        rows = np.asarray(columns["rows"].to_numpy(zero_copy_only=False), dtype=np.float64)
        return {request.analysis.attribute(index): shares(columns[f"key_{index}"], rows, [passes]) for index in request.analysis.safe}

    def _sampled(self, request: Request, execution: Execution) -> dict[str, Shares]:
        """Estimate from a sample that Spark takes of the newest version; groups over several tables are not sampled."""
        if not isinstance(request.block.source, Scan):
            return {}
        block, snapshot = request.block, self._source.snapshot(_snapshot_of(request).location)
        fraction = fraction_for(snapshot.row_count)
        drawn = self._session.read(sample_sql(block, _table_of(request), snapshot.version, fraction), execution)
        keys = tuple(_typed(column(drawn, f"key_{index}"), request, index) for index in range(len(block.keys)))
        sample = Sample(keys, tuple(aggregate.specification for aggregate in block.aggregates), drawn, fraction)
        return {request.analysis.attribute(index): each for index, each in estimated_shares(sample, block, request.analysis.safe).items()}

    def _note(self, request: Request, found: Mapping[str, Shares]) -> None:
        known = self._workload.find(request.template.identifier)
        if known is not None:
            self._workload.add(replace(known, runs=0, milliseconds=0.0, bytes=0, shares=found))


def _beside_in(records: Iterable[Record], table: str) -> int:
    """Return what all runs skip of a table by columns that no advice is about, which another clustering takes away."""
    return sum(record.beside.get(table, 0) * record.runs for record in records)


def _beside(record: Record, own: SketchReport | None) -> dict[str, int]:
    """Return what a run skipped by a column that is no group key of its block, or of another table than the one it is recorded for."""
    if own is None or own.reason is not Reason.FILTERED or own.table is None:
        return {}
    if own.table == record.table and own.attribute in record.attributes:
        return {}
    return {own.table: (own.bytes_total or 0) - (own.bytes_kept or 0)}


def _table_of(request: Request) -> tuple[str, ...]:
    """Return the table that the first safe key cuts; advice is about that."""
    return request.analysis.cuts[request.analysis.safe[0]][0].scan.table


def _snapshot_of(request: Request) -> TableSnapshot:
    return request.snapshots[_table_of(request)]


def _is_worth_an_estimate(record: Record) -> bool:
    """Say whether another clustering could help: none is where files are skipped on the only attribute."""
    return not record.shares and (len(record.attributes) > 1 or record.last_bytes > MOST_READ * record.table_bytes)


def _typed(key: pa.Array, request: Request, index: int) -> pa.Array:
    expression = request.block.keys[index]
    wanted = request.analysis.columns.get(expression.name) if isinstance(expression, Column) else None
    return key if wanted is None else key.cast(wanted)


def _record_of(request: Request, known: Record | None) -> Record:
    """Return the record of a request without its run."""
    if known is not None:
        return replace(known, shares={})
    tree = parse(request.template.text).tree
    return Record(
        request.template.identifier,
        "" if tree is None else text_without_constants(tree),
        ".".join(_table_of(request)),
        _snapshot_of(request).table_id,
        tuple(request.analysis.attribute(index) for index in request.analysis.safe),
    )


@per_statement
def _refused(statement: Statement) -> Record:
    """Return the record of one run of a statement that was refused before its tables were known."""
    if statement.tree is None:
        return Record("", runs=1)
    identifier = hashlib.blake2s(template_text(statement.tree).encode(), digest_size=6).hexdigest()
    return Record(identifier, text_without_constants(statement.tree), runs=1)


def _spent(report: SketchReport) -> float:
    return float(report.times.get("execute", 0.0))
