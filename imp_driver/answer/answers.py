"""A query -> its rows from maintained groups, brought up to the tables' versions just before, with no job in Spark for the rows.

Source: paper 2 and 4.4 for upkeep before use; what may be answered is in docs/soundness.md. Whatever is not certain is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from imp_driver.answer.finish import Finish
from imp_driver.answer.groups import check_maintained, rows_of
from imp_driver.answer.rounding import check_comparable
from imp_driver.answer.shape import ShapedRows, Shapes
from imp_driver.answer.summary import Groups, plain_text, report_of_groups
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.maintain.at_hand import read_at_hand
from imp_driver.maintain.identity import lifted, prefix_of, state_key
from imp_driver.maintain.prefix import forms
from imp_driver.maintain.request import Request, request_of
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.parse.statement import Statement
from imp_driver.plan.bind import with_values
from imp_driver.plan.nodes import Aggregate, Plan, scans
from imp_driver.ports import Session
from imp_driver.reasons import Reason
from imp_driver.rewrite.comparison import Served
from imp_driver.rewrite.shadow import TOLERANCE
from imp_driver.safety.verdict import readable
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
    """A query's rows, and the groups that they come from."""

    rows: ShapedRows
    parts: tuple[Groups, ...]


class Answers:
    """Answers the queries of one connection."""

    def __init__(self, session: Session, sketches: Sketches, options: Options, reader: Reader) -> None:
        self._session = session
        self._reader = reader
        self._sketches = sketches
        self._relations = sketches.relations
        self._options = options
        self._shapes = Shapes(session)

    def serve(self, reading: Reading, run: Run, means: Means) -> Served:
        """Return the rows of a query, with what compares them with Spark's.

        Raises as ``answer``.
        """
        answer = self.answer(reading, run, means)
        text = plain_text(reading, answer.parts) if self._is_compared else ""
        return Served(answer.rows, report_of_groups(answer.parts, run.watch.times), text, tuple(part.relation for part in answer.parts))

    def answer(self, reading: Reading, run: Run, means: Means) -> Answer:
        """Return the rows of a query.

        Raises:
            Refused: they are not known for certain; the reason says why.
            Error: Spark failed.
        """
        grouped = reading.text.grouped()
        self._check_permitted(grouped.plan)
        requests = [self._request(reading, grouped, place, run.parameters) for place in range(len(grouped.parts))]
        self._sketches.restore()
        try:
            parts = [self._groups(request, aggregate, means) for request, (aggregate, _) in zip(requests, grouped.parts, strict=True)]
            self._relations.evict()
            _check_one_moment(parts)
            with run.watch.stage("answer"):
                finish = Finish(
                    {aggregate.output[0].identifier: part.rows for (aggregate, _), part in zip(grouped.parts, parts, strict=True)},
                    may_round=self._options.floats is Floats.ROUNDED,
                )
                rows = finish.answer(with_values(grouped.plan, run.parameters), may_tie=not self._is_compared)
            shape = self._shapes.of(reading, lambda: plain_text(reading, parts) if reading.is_pinned else reading.statement.text, run)
            return Answer(ShapedRows(rows, shape), tuple(parts))
        except NotEvaluable as error:
            raise Refused(Reason.LEFT_TO_SPARK, str(error)) from error

    def told(self, statement: Statement, run: Run) -> list[str]:
        """Say where the rows of a query would come from, without computing them; nothing where answers are switched off.

        Raises Refused as ``answer``, as far as that is known.
        """
        if not self._options.answers:
            return []
        reading = self._reader.read(statement, run, is_told=True)
        grouped = reading.text.grouped()
        self._check_permitted(grouped.plan)
        lines = []
        for place in range(len(grouped.parts)):
            request = self._request(reading, grouped, place, run.parameters)
            found = self._state_at_hand(request)
            own = request if found is None else found
            relation = self._relations.registry.find(state_key(own))
            version = None if relation is None or not relation.is_ready else relation.version
            state = "to be captured" if relation is None or version is None else f"held as {relation.identifier}, at version {version}"
            lines.append(f"  groups by {', '.join(map(readable, own.block.keys_sql))} of {len(own.block.aggregates)} aggregates: {state}")
        return ["Answered from groups, unless a value of theirs is not known exactly:", *lines]

    @property
    def _is_compared(self) -> bool:
        """Whether answers may be compared with Spark's, which takes other ones of rows that tie."""
        return self._options.sketch is SketchMode.SHADOW or self._options.sketch_guard > 0

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

    def _groups(self, request: Request, aggregate: Aggregate, means: Means) -> Groups:
        def read(own: Request, relation: Maintained) -> Groups:
            own, upkeep = self._relations.brought_up_to_date(own, relation, means)
            if relation.state is None:
                raise Refused(Reason.STATE_TOO_LARGE, "the groups are in buckets")
            return rows(own, relation, upkeep, relation.columns.of(relation.state, relation.vector))

        def rows(own: Request, relation: Maintained, upkeep: Upkeep, groups: ReadGroups) -> Groups:
            with means.watch.stage("answer"):
                return self._read(own, relation, aggregate, upkeep, groups)

        own = self._with_state(request)
        found = read_at_hand(self._relations, own, rows)
        return self._relations.held(own, means, read) if found is None else found

    def _with_state(self, request: Request) -> Request:
        """Return the request about a state that is there, also one with more aggregates or of all keys, or about the one to be captured."""
        found = self._state_at_hand(request)
        if found is None and self._sketches.restore(is_missed=True):
            found = self._state_at_hand(request)
        return self._relations.wide(request) if found is None else found

    def _state_at_hand(self, request: Request) -> Request | None:
        registry = self._relations.registry
        for form in forms(request, registry.of_prefix(prefix_of(request))):
            for own in filter(None, (form, lifted(form))):
                relation = registry.find(state_key(own))
                if relation is not None and relation.is_in_service and relation.bucketed is None:
                    return own
        return None

    def _read(self, request: Request, relation: Maintained, aggregate: Aggregate, upkeep: Upkeep, groups: ReadGroups) -> Groups:
        rows = rows_of(groups, request.block, aggregate)
        if self._is_compared:
            check_comparable(rows, TOLERANCE)
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
