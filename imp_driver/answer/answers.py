"""A query -> its rows from maintained groups, brought up to the tables' versions just before, with no job in Spark for the rows.

Source: paper 2 and 4.4 for upkeep before use; what may be answered is in docs/soundness.md. Whatever is not certain is refused.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from imp_driver.answer.finish import Finish
from imp_driver.answer.groups import check_maintained, repeated, rows_of
from imp_driver.answer.patience import Patience
from imp_driver.answer.rest import Payoff, Rest, check_left, check_share
from imp_driver.answer.rounding import check_comparable
from imp_driver.answer.shape import ShapedRows, Shapes
from imp_driver.answer.states import Source, States
from imp_driver.answer.summary import Groups, plain_text, report_of_groups, versions_of
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.maintain.at_hand import read_at_hand
from imp_driver.maintain.request import Request, request_of
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.parse.statement import Statement
from imp_driver.plan.bind import with_values
from imp_driver.plan.nodes import Aggregate, Plan, scans
from imp_driver.ports import ResultShape, ResultStream, Session
from imp_driver.reasons import BESIDE_GROUPS, Reason, ServedBy
from imp_driver.rewrite.comparison import Served
from imp_driver.rewrite.shadow import TOLERANCE
from imp_driver.snapshot.reader import Reader
from imp_driver.snapshot.reading import Reading
from imp_driver.snapshot.text import Grouped
from imp_driver.state.group_columns import ReadGroups
from imp_driver.state.maintained import Maintained
from imp_driver.values.options import Floats, Options, SketchMode
from imp_driver.values.refusal import Refused
from imp_driver.values.run import Parameters, Run


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A query's rows, the groups that they come from, and whether these are all that they come from."""

    rows: ResultStream
    parts: tuple[Groups, ...]
    served_by: ServedBy
    text: str = ""


class Answers:
    """Answers the queries of one connection."""

    def __init__(self, session: Session, sketches: Sketches, options: Options, reader: Reader) -> None:
        self._session = session
        self._reader = reader
        self._sketches = sketches
        self._relations = sketches.relations
        self._options = options
        self._shapes = Shapes(session)
        self._payoff = Payoff()
        self._patience = Patience()
        self._states = States(sketches, session)

    def serve(self, reading: Reading, run: Run, means: Means) -> Served:
        """Return the rows of a query, with what compares them with Spark's.

        Raises as ``answer``.
        """
        answer = self.answer(reading, run, means)
        text = plain_text(reading, answer.parts) if self._is_compared else ""
        report = report_of_groups(answer.parts, run.watch.times)
        versions = {".".join(name): version for name, version in versions_of(reading, answer.parts).items()}
        report = replace(report, served_by=answer.served_by, executed_sql=answer.text, tables=versions)
        return Served(answer.rows, report, text, tuple(part.relation for part in answer.parts))

    def answer(self, reading: Reading, run: Run, means: Means) -> Answer:
        """Return the rows of a query.

        Raises:
            Refused: they are not known for certain; the reason says why.
            Error: Spark failed.
        """
        rows = reading.text.with_rows()
        found = None if rows is None else self._with_rows(rows, reading, run, means)
        if isinstance(found, Answer):
            return found
        try:
            return self._from(reading.text.grouped(), reading, run, means)
        except Refused as refused:
            raise found if found is not None and refused.reason is Reason.ROWS_WITHOUT_GROUPS else refused  # noqa: B904

    def _with_rows(self, rows: Grouped, reading: Reading, run: Run, means: Means) -> Answer | Refused:
        """Answer from rows that are kept, beside groups or alone, or say why not.

        Raises as ``answer`` where groups are to be waited for.
        """
        template = reading.text.template_text
        grounds = self._patience.why_not(template)
        if grounds is not None:
            return Refused.on(grounds)
        try:
            answer = self._from(rows, reading, run, means)
        except Refused as refused:
            if refused.reason is Reason.ROWS_NEEDED:
                return refused
            if refused.reason in BESIDE_GROUPS:
                raise
            self._patience.in_vain(template, refused.grounds)
            return refused
        self._patience.succeeded(template)
        return answer

    def _from(self, grouped: Grouped, reading: Reading, run: Run, means: Means) -> Answer:
        self._check_permitted(grouped.plan)
        self._payoff.check(reading.text.template_text)
        if grouped.others:
            check_share(sum(map(reading.size, grouped.others)), reading.bytes)
        requests = [self._request(reading, grouped, place, run.parameters) for place in range(len(grouped.parts))]
        self._sketches.restore()
        try:
            # Rows that are not kept are found missing before any groups are captured.
            kept = self._kept({place: request for place, request in enumerate(requests) if grouped.parts[place][0] in grouped.bags})
            parts = [
                self._groups(request, grouped.parts[place][0], kept.get(place) or self._states.source(request), means)
                for place, request in enumerate(requests)
            ]
        except NotEvaluable as error:
            raise Refused(Reason.LEFT_TO_SPARK, str(error)) from error
        self._relations.evict()
        _check_one_moment(parts)
        groups = {
            aggregate.output[0].identifier: repeated(part.rows, aggregate) if aggregate in grouped.bags else part.rows
            for (aggregate, _), part in zip(grouped.parts, parts, strict=True)
        }
        plan = with_values(grouped.plan, run.parameters)
        shape = self._shapes.of(reading, lambda: plain_text(reading, parts) if reading.is_pinned else reading.statement.text, run)
        try:
            if grouped.others:
                raise NotEvaluable("a table that is not grouped")
            with run.watch.stage("answer"):
                rows = Finish(groups, may_round=self._may_round).answer(plan, may_tie=not self._is_compared)
                return Answer(ShapedRows(rows, shape), tuple(parts), ServedBy.STATE)
        except NotEvaluable as error:
            check_left(plan, groups, may_round=self._may_round, may_tie=not self._is_compared, why=str(error))
            return self._rest_by_spark(reading, plan, groups, parts, shape, run)

    def _kept(self, requests: Mapping[int, Request]) -> dict[int, Source]:
        """Return where rows come from. Raises Refused as the first does that are not kept, after all were asked for."""
        found: dict[int, Source] = {}
        missing: Refused | None = None
        for place, request in requests.items():
            try:
                found[place] = self._states.kept(request)
            except Refused as refused:
                missing = missing or refused
        if missing is not None:
            raise missing
        return found

    def _rest_by_spark(
        self, reading: Reading, plan: Plan, groups: Mapping[str, pa.Table], parts: Sequence[Groups], shape: ResultShape, run: Run
    ) -> Answer:
        rest = Rest(plan, groups, versions_of(reading, parts))
        before = time.perf_counter()
        with run.watch.stage("execute"):
            rows = rest.stream(self._session, shape, run)
        captured = [part.relation.costs.captured for part in parts]
        longest = None if None in captured else max(filter(None, captured), default=0.0)
        self._payoff.note(reading.text.template_text, time.perf_counter() - before, longest)
        return Answer(rows, tuple(parts), ServedBy.STATE_AND_SPARK, rest.text)

    def told(self, statement: Statement, run: Run) -> list[str]:
        """Say where the rows of a query would come from, without computing them; nothing where answers are switched off.

        Raises Refused as ``answer``, as far as that is known.
        """
        if not self._options.answers:
            return []
        reading = self._reader.read(statement, run, is_told=True)
        grouped = reading.text.with_rows() or reading.text.grouped()
        self._check_permitted(grouped.plan)
        requests = [self._request(reading, grouped, place, run.parameters) for place in range(len(grouped.parts))]
        bags = [aggregate in grouped.bags for aggregate, _ in grouped.parts]
        lines = [line for request, is_bag in zip(requests, bags, strict=True) for line in self._states.told(request, is_bag=is_bag)]
        beside = [f"  beside the groups, read by Spark: {', '.join('.'.join(each.table) for each in grouped.others)}"] * bool(
            grouped.others
        )
        return ["Answered from groups, unless a value of theirs is not known exactly:", *lines, *beside]

    @property
    def _is_compared(self) -> bool:
        """Whether answers may be compared with Spark's, which takes other ones of rows that tie."""
        return self._options.sketch is SketchMode.SHADOW or self._options.sketch_guard > 0

    @property
    def _may_round(self) -> bool:
        return self._options.floats is Floats.ROUNDED

    def _check_permitted(self, plan: Plan) -> None:
        """Rows that do not come from Spark are not seen by its own checks."""
        if self._session.has_row_rules():
            raise Refused(Reason.NOT_PERMITTED, "the engine may have rules of its own about who sees which rows")
        for name in _names(plan):
            if not self._session.may_read(name):
                raise Refused(Reason.NOT_PERMITTED, ".".join(name))

    def _request(self, reading: Reading, grouped: Grouped, place: int, parameters: Parameters) -> Request:
        analysis = grouped.parts[place][1]
        block, wide = reading.groups(analysis, parameters)
        check_maintained(block)
        # Numbers below 0 are those of blocks that are answered from.
        request = request_of(reading, analysis, (block, wide), reading.text.template_text, -1 - place, self._options)
        self._relations.check_trusted(request.template.identifier)
        return request

    def _groups(self, request: Request, aggregate: Aggregate, source: Source, means: Means) -> Groups:
        def read(own: Request, relation: Maintained) -> Groups:
            own, upkeep = self._relations.brought_up_to_date(own, relation, means)
            if relation.state is None:
                raise Refused(Reason.STATE_TOO_LARGE, "the groups are in buckets")
            return rows(own, relation, upkeep, relation.columns.of(relation.state, relation.vector))

        def rows(own: Request, relation: Maintained, upkeep: Upkeep, groups: ReadGroups) -> Groups:
            with means.watch.stage("answer"):
                found = rows_of(groups, source.found, request.block, aggregate)
                return self._read(own, relation, upkeep, found)

        found = read_at_hand(self._relations, source.request, rows)
        return self._relations.held(source.request, means, read) if found is None else found

    def _read(self, request: Request, relation: Maintained, upkeep: Upkeep, rows: pa.Table) -> Groups:
        if self._is_compared:
            check_comparable(rows, TOLERANCE)
        relation.answered()
        self._relations.checkpoint.note(relation)
        if relation.costs.captured is not None:
            # What is not computed by Spark would have taken about as long as the capture.
            relation.costs.note_query(relation.costs.captured, 0.5)
        return Groups(request, relation, upkeep, rows)


def _names(plan: Plan) -> Iterable[tuple[str, ...]]:
    """Return the tables and views that a query reads."""
    every = scans(plan)
    return dict.fromkeys([*(scan.table for scan in every), *(view.name for scan in every for view in scan.views)])


def _check_one_moment(parts: Sequence[Groups]) -> None:
    """Raise Refused where another thread was faster, and one part stands for a newer version of a table than another."""
    versions: dict[str, int] = {}
    for part in parts:
        for snapshot in part.request.tables:
            if versions.setdefault(snapshot.location, snapshot.version) != snapshot.version:
                raise Refused(Reason.TABLE_CHANGED_MEANWHILE)
