"""A query -> its rows from maintained groups, brought up to the tables' versions just before, with no job in Spark for the rows.

Source: paper 2 and 4.4 for upkeep before use; what may be answered is in docs/soundness.md. Whatever is not certain is refused.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from imp_driver.answer.group_reader import Forks
from imp_driver.answer.held import Held
from imp_driver.answer.inner import InnerRows
from imp_driver.answer.named import NamedAnswers, over_views
from imp_driver.answer.nested.followed import FollowedMerges
from imp_driver.answer.nested.told import told_nested
from imp_driver.answer.parts import Parts
from imp_driver.answer.patience import Patience
from imp_driver.answer.permitted import Permitted
from imp_driver.answer.recursion.left import LeftToEngine
from imp_driver.answer.recursion.place import Places
from imp_driver.answer.recursive import RecursiveAnswers
from imp_driver.answer.repeated import Repeats
from imp_driver.answer.rest import Payoff, Rest, check_left, check_share
from imp_driver.answer.shape import ShapedRows, Shapes
from imp_driver.answer.summary import Groups, check_one_moment, plain_text, report_of_groups, versions_of
from imp_driver.answer.why import Support
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.upkeep import Means
from imp_driver.parse.moment import NOW
from imp_driver.parse.statement import Statement
from imp_driver.plan.recursive_form import unrolled
from imp_driver.ports import ResultShape, ResultStream, Session
from imp_driver.reasons import BESIDE_GROUPS, Reason, RecaptureReason, ServedBy
from imp_driver.rewrite.comparison import Served
from imp_driver.snapshot.reader import Reader
from imp_driver.snapshot.reading import Reading
from imp_driver.snapshot.text import Grouped
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import Floats, RecursionPlace
from imp_driver.values.options import Options
from imp_driver.values.refusal import Grounds, Refused
from imp_driver.values.view_policy import ViewPolicy


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A query's rows, the groups that they come from, and whether these are all that they come from."""

    rows: ResultStream
    parts: tuple[Groups, ...]
    served_by: ServedBy
    text: str = ""


class Answers:
    """Answers the queries of one connection."""

    def __init__(self, session: Session, sketches: Sketches, options: Options, reader: Reader, left: LeftToEngine) -> None:
        self._session = session
        self._reader = reader
        self._left = left
        self._sketches = sketches
        self._options = options
        self._parts = Parts(session, sketches, options)
        self.named = NamedAnswers(session, sketches, options, reader)
        self._permitted = Permitted(session, options)
        self._recursions = RecursiveAnswers(sketches, self.named, self._permitted)
        self._repeats = Repeats(sketches.relations, options)
        self._shapes = Shapes(session)
        self._payoff = Payoff()
        self._patience = Patience()
        self._places = Places(options.recursion)

    def serve(self, reading: Reading, execution: Execution, means: Means) -> Served:
        """Return the rows of a query, with what compares them with Spark's.

        Raises as ``answer``.
        """
        self.named.ensure(reading, execution, means)
        answer = self.answer(reading, execution, means)
        is_compared = self._options.is_compared and not reading.text.has_recursion
        text = plain_text(reading, answer.parts) if is_compared else ""
        report = report_of_groups(answer.parts, execution.watch.times)
        versions = {".".join(name): version for name, version in versions_of(reading, answer.parts).items()}
        report = replace(report, served_by=answer.served_by, executed_sql=answer.text, tables=versions)
        self.named.note(reading, report)
        return Served(answer.rows, report, text, tuple(part.relation for part in answer.parts))

    def answer(self, reading: Reading, execution: Execution, means: Means) -> Answer:
        """Return the rows of a query.

        Raises:
            Refused: they are not known for certain; the reason says why.
            Error: Spark failed.
        """
        if self._options.is_compared and NOW in reading.text.asked:
            raise Refused(Reason.NON_DETERMINISTIC, f"{NOW}: with Spark's rows, which are to be compared, it is read again")
        known = self._repeats.find(reading, execution.parameters)
        if known is not None:
            return self._again(reading, *known)
        if reading.text.has_recursion:
            return self._recursive(reading, execution, means)
        views = over_views(reading)
        if views is not None:
            try:
                return self._from(views, reading, execution, means)
            except Refused as refused:
                if refused.reason is Reason.NOT_FOLLOWED and not refused.detail.startswith(RecaptureReason.NOT_INCREMENTAL.name):
                    # A view with POLICY STRICT, whose rows are not captured in another way; what is held in another way may be followed.
                    raise
        rows = reading.text.with_rows()
        found = None if rows is None else self._with_rows(rows, reading, execution, means)
        if isinstance(found, Answer):
            return found
        try:
            return self._with_groups(reading, execution, means)
        except Refused as refused:
            raise found if found is not None and refused.reason is Reason.ROWS_WITHOUT_GROUPS else refused  # noqa: B904

    def _recursive(self, reading: Reading, execution: Execution, means: Means) -> Answer:
        """Return the rows of a query over recursive relations, for which the rows of its tables are kept from the first time on.

        Raises as ``answer``; Refused with RECURSION_BY_SPARK where ``by_rounds`` is to compute them.
        """

        def in_process() -> Answer:
            held = self._recursions.held(reading, execution, means)
            return self._of_groups(held, reading, self._shape(held.parts, reading, execution), execution)

        is_strict = self._recursions.policy(reading) is ViewPolicy.STRICT
        return self._places.in_process(reading.template_text, in_process, is_strict=is_strict)

    def by_rounds(self, reading: Reading, execution: Execution, why: Grounds) -> Served:
        """Have Spark compute the recursions of a query, which checks itself who sees which rows; ``why`` it is left to it.

        Raises:
            Refused: they are not known for certain there either.
            Error: Spark failed.
        """
        self._permitted.check_readable(reading.text.scans)
        return self._left.served(reading, self._shape((), reading, execution), execution, why)

    def why(self, statement: Statement, execution: Execution, means: Means, most: int) -> Iterator[tuple[Support, ...]]:
        """Say by which base rows the rows of a query over a recursive view are there, ``most`` sets of these for each row.

        Raises Refused as ``answer``, and where that is not kept.
        """
        if not self.named.is_used:
            raise Refused(Reason.SKETCH_OFF, "or answers are (options sketch and answers)")
        reading = self._reader.read(statement, execution)
        self.named.ensure(reading, execution, means)
        return self._recursions.why(reading, execution, means, most, may_round=self._may_round)

    def supposed(self, reading: Reading, forks: Forks, execution: Execution, means: Means) -> Answer:
        """Return the rows of a query after changes that nobody makes.

        Raises:
            Refused: they do not come from maintained groups alone, or these cannot follow the changes.
            Error: Spark failed.
        """
        if reading.is_pinned:
            raise Refused(Reason.OLD_VERSION)
        if reading.text.has_recursion:
            # What is supposed steps copies of rows that are held, as they are from the first reading on.
            try:
                self._recursions.held(reading, execution, means)
            except NotEvaluable as error:
                raise Refused(Reason.LEFT_TO_SPARK, str(error)) from error
        parts = self._parts.over(forks)
        first: Refused | None = None
        ways: tuple[Callable[[], Grouped | None], ...] = (partial(over_views, reading), reading.text.with_rows, reading.text.grouped)
        for find in ways:
            try:
                grouped = find()
                if grouped is not None:
                    return self._supposed(parts, grouped, reading, execution, means)
            except (Refused, NotEvaluable) as error:
                first = first or (error if isinstance(error, Refused) else Refused(Reason.LEFT_TO_SPARK, str(error)))
        assert first is not None
        raise first

    def _supposed(self, parts: Parts, grouped: Grouped, reading: Reading, execution: Execution, means: Means) -> Answer:
        self._permitted.check(grouped)
        if grouped.others:
            raise Refused(Reason.ROWS_WITHOUT_GROUPS)
        held = parts.of(grouped, reading, reading.parameters(execution.parameters), means)
        check_one_moment(held.parts)
        shape = self._shape(held.parts, reading, execution)
        rows = held.finish(may_round=self._may_round).answer(held.plan, may_tie=not self._options.is_compared)
        return Answer(ShapedRows(rows, shape), held.parts, ServedBy.STATE)

    def _again(self, reading: Reading, rows: ShapedRows, parts: tuple[Groups, ...]) -> Answer:
        """Return the rows of the same query at the same versions. Raises Refused where this session may not have them."""
        self._permitted.check_scans(reading.text.scans)
        self._parts.note_answered(parts)
        return Answer(rows, parts, ServedBy.STATE)

    def _with_groups(self, reading: Reading, execution: Execution, means: Means) -> Answer:
        """Answer from groups; a query that is always left to Spark in the end is no longer tried each time. Raises as ``answer``."""
        name = f"groups of {reading.template_text}"
        grounds = self._patience.why_not(name)
        if grounds is not None:
            raise Refused.on(grounds)
        try:
            answer = self._at_hand(reading, execution) or self._from(reading.text.grouped(), reading, execution, means)
        except Refused as refused:
            if refused.reason is Reason.LEFT_TO_SPARK:
                self._patience.in_vain(name, refused.grounds)
            raise
        self._patience.succeeded(name)
        return answer

    def _at_hand(self, reading: Reading, execution: Execution) -> Answer | None:
        """Answer from groups that stand for the newest versions as they are, for all constants on their keys; None where that fails."""
        above = reading.text.above()
        if above is None:
            return None
        self._permitted.check(above)
        try:
            held = self._parts.at_hand(above, reading, reading.parameters(execution.parameters))
            if held is None:
                return None
            answer = self._of_groups(held, reading, self._shape(held.parts, reading, execution), execution)
        except (Refused, NotEvaluable):
            return None
        self._parts.note_answered(answer.parts)
        return answer

    def _with_rows(self, rows: Grouped, reading: Reading, execution: Execution, means: Means) -> Answer | Refused:
        """Answer from rows that are kept, beside groups or alone, or say why not.

        Raises as ``answer`` where groups are to be waited for.
        """
        template = reading.template_text
        grounds = self._patience.why_not(template)
        if grounds is not None:
            return Refused.on(grounds)
        try:
            answer = self._from(rows, reading, execution, means)
        except Refused as refused:
            if refused.reason is Reason.ROWS_NEEDED:
                return refused
            if refused.reason in BESIDE_GROUPS:
                raise
            self._patience.in_vain(template, refused.grounds)
            return refused
        self._patience.succeeded(template)
        return answer

    def _from(self, grouped: Grouped, reading: Reading, execution: Execution, means: Means) -> Answer:
        self._permitted.check(grouped)
        self._payoff.check(reading.template_text)
        if grouped.others:
            check_share(sum(map(reading.size, grouped.others)), reading.bytes)
        try:
            held = self._parts.of(grouped, reading, reading.parameters(execution.parameters), means)
        except NotEvaluable as error:
            raise Refused(Reason.LEFT_TO_SPARK, str(error)) from error
        self._sketches.relations.evict()
        check_one_moment(held.parts)
        return self._finished(held, reading, execution)

    def _finished(self, held: Held, reading: Reading, execution: Execution) -> Answer:
        shape = self._shape(held.parts, reading, execution)
        try:
            if held.grouped.others:
                raise NotEvaluable("a table that is not grouped")
            return self._of_groups(held, reading, shape, execution)
        except NotEvaluable as error:
            if held.merges:
                raise Refused(Reason.LEFT_TO_SPARK, str(error)) from error
            may_round, may_tie = self._may_round, not self._options.is_compared
            check_left(held.plan, held.rows, may_round=may_round, may_tie=may_tie, why=str(error))
            return self._rest_by_spark(held, reading, shape, execution)

    def _shape(self, parts: Sequence[Groups], reading: Reading, execution: Execution) -> ResultShape:
        def described() -> Execution:
            if reading.text.has_recursion:
                return unrolled(execution)
            return execution.with_text(plain_text(reading, parts)) if reading.is_pinned else execution

        return self._shapes.of(reading, described, execution)

    def _of_groups(self, held: Held, reading: Reading, shape: ResultShape, execution: Execution) -> Answer:
        """Finish a query in process. Raises NotEvaluable."""
        with execution.watch.stage("answer"):
            inner = self._inner(held, reading)
            recursions = self._recursions.followed(held, reading, execution) if reading.text.has_recursion else None
            merges = FollowedMerges(self._sketches.relations.merges, reading.settings)
            finish = held.finish(may_round=self._may_round, inner=inner, recursions=recursions, merges=merges)
            try:
                rows = finish.answer(held.plan, may_tie=not self._options.is_compared)
            except NotEvaluable as error:
                if recursions is not None and recursions.has_all(held.plan):
                    raise Refused(Reason.LEFT_TO_SPARK, str(error)) from error
                raise
            shaped = ShapedRows(rows, shape)
            self._repeats.keep(reading, execution.parameters, shaped, shape, held.parts)
            return Answer(shaped, held.parts, ServedBy.STATE)

    def _inner(self, held: Held, reading: Reading) -> InnerRows | None:
        """Return what other queries over the views of this one have computed; None where values decide what its plan is.

        Those are of markers, of the day, or of scalar subqueries; such a plan is another object each time.
        """
        has_views = any(scan.views for scan in reading.text.scans)
        is_kept = has_views and not reading.is_pinned and any(each is held.plan for each in reading.text.with_values.values())
        return InnerRows(self._sketches.relations.inner, reading, held.plan) if is_kept else None

    @property
    def _may_round(self) -> bool:
        return self._options.floats is Floats.ROUNDED

    def _rest_by_spark(self, held: Held, reading: Reading, shape: ResultShape, execution: Execution) -> Answer:
        rest = Rest(held.plan, held.rows, versions_of(reading, held.parts))
        before = time.perf_counter()
        with execution.watch.stage("execute"):
            rows = rest.stream(self._session, shape, execution)
        captured = [part.relation.costs.captured for part in held.parts]
        longest = None if None in captured else max(filter(None, captured), default=0.0)
        self._payoff.note(reading.template_text, time.perf_counter() - before, longest)
        return Answer(rows, held.parts, ServedBy.STATE_AND_SPARK, rest.text)

    def told(self, statement: Statement, execution: Execution) -> list[str]:
        """Say where the rows of a query would come from, without computing them; nothing where answers are switched off.

        Raises Refused as ``answer``, as far as that is known.
        """
        if not self._options.answers:
            return []
        reading = self._reader.read(statement, execution, is_told=True)
        if reading.text.has_recursion and self._options.recursion is RecursionPlace.SPARK:
            return ["Computed by Spark round by round, all of it at each reading (option recursion)."]
        grouped = reading.text.with_rows() or reading.text.grouped()
        self._permitted.check(grouped)
        lines = self._parts.told(grouped, reading, reading.parameters(execution.parameters))
        nested = [f"  {line}" for line in told_nested(grouped.plan)]
        beside = [f"  beside the groups, read by Spark: {', '.join('.'.join(each.table) for each in grouped.others)}"] * bool(
            grouped.others
        )
        return ["Answered from groups, unless a value of theirs is not known exactly:", *lines, *nested, *beside]
