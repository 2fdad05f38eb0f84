"""A query whose recursions are left to Spark: rounds first, then what stands above them over the rows that these have found."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import count
from uuid import uuid4

import pyarrow as pa

from imp_driver.answer.recursion.by_spark import EngineRounds, Round
from imp_driver.answer.recursion.following import Followed, Following
from imp_driver.answer.recursion.kept_state import KeptRun, KeptRuns
from imp_driver.answer.recursion.shown import ShownTables
from imp_driver.answer.rest import renamed
from imp_driver.errors import Error, raise_if_cancelled
from imp_driver.plan.nodes import Fixpoint, Plan, every
from imp_driver.plan.signature import signature
from imp_driver.ports import ResultShape, ResultStream, Session
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.rewrite.comparison import Served
from imp_driver.snapshot.reading import Reading
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import RowRules
from imp_driver.values.refusal import Grounds
from imp_driver.values.report import SketchReport
from imp_driver.values.tables import ChangeSource

_MOST_TOLD = 12


class LeftToEngine:
    """The recursive queries of one connection that are left to the engine; ``runs`` has what it keeps of them."""

    def __init__(self, session: Session, source: ChangeSource, runs: KeptRuns, row_rules: RowRules) -> None:
        self._session = session
        self._source = source
        self._runs = runs
        self._row_rules = row_rules

    def served(self, reading: Reading, shape: ResultShape, execution: Execution, why: Grounds) -> Served:
        """Compute the recursions of a query at the versions of a reading, and start what stands above them.

        What is kept of them is brought to these versions, if it is the same query and nobody reads it at the moment.

        Args:
            why: they are left to the engine.

        Raises:
            Refused: a recursion does not end, or the engine would have other values than the query.
            Error: it failed, or the run was cancelled; nothing is kept there then.
        """
        plan = reading.with_values(reading.text.whole(), reading.parameters(execution.parameters))
        key = tuple(sorted(signature(each) for each in every(plan) if isinstance(each, Fixpoint))), reading.settings
        # What depends on the time is another query each time.
        run = None if reading.text.asked else self._runs.take(key)
        if run is not None:
            try:
                return self._from(replace(run, kept=run.kept.for_run(execution)), key, plan, reading, shape, execution, why)
            except Error as error:
                # Rows that were kept may be gone with the machine that had them.
                raise_if_cancelled(error)
        return self._from(KeptRun(self._session.kept_rows(execution)), key, plan, reading, shape, execution, why)

    def _from(
        self, run: KeptRun, key: Hashable, plan: Plan, reading: Reading, shape: ResultShape, execution: Execution, why: Grounds
    ) -> Served:
        """Raises as ``served``; the run is closed then."""
        tables = {name: table.snapshot for name, table in reading.tables.items()}
        session, kept = self._session, run.kept
        tag = uuid4().hex
        names = (f"__imp_rows_{tag}_{number}" for number in count())
        shown = ShownTables(kept, names, {name: table.version for name, table in tables.items()})
        following = Following(session, self._source, kept, execution, run.states, tables, names, shown, self._row_rules)
        try:
            rounds = EngineRounds(session, kept, shown, execution, following)
            with execution.watch.stage("rounds"):
                text = rounds.query(plan)
            shown.drop()
            with execution.watch.stage("execute"):
                rows = renamed(session.execute(execution.of(text)), shape)
        except BaseException:
            kept.close()
            raise
        told = [*map(_told, rounds.progress), *map(_told_followed, following.progress), *(f"anew: {each}" for each in following.why_not)]
        told += [f"copied: {each}" for each in following.sorted]
        report = SketchReport(
            Decision.NOT_USED,
            Reason.RECURSION_BY_SPARK,
            "; ".join(told),
            tables={".".join(name): table.version for name, table in tables.items()},
            times=execution.watch.times,
            executed_sql=text,
            served_by=ServedBy.SPARK_BY_ROUNDS,
            not_answered=why,
        )

        def ended() -> None:
            for name in rounds.passing:
                kept.drop(name)
            if run.states and not reading.text.asked:
                self._runs.put(key, run)
            else:
                kept.close()

        return Served(_Closing(rows, ended, kept.close), report)


def _told(rounds: Sequence[Round]) -> str:
    """Say how many rounds there were, how many rows the bases and then each round found, and how much went through one machine for it."""
    found, handed_over = _listed([each.rows for each in rounds]), _listed([each.handed_over for each in rounds])
    return f"rounds: {len(rounds) - 1}, rows: {sum(each.rows for each in rounds)} = {found}, bytes handed over: {handed_over}"


def _told_followed(found: Followed) -> str:
    """Say what changed, and what each question to the engine took."""
    shipped = found.shipped
    parts = (
        f"questions: {len(shipped)}",
        f"rows handed over: {_listed([each.rows_over for each in shipped])}",
        f"bytes handed over: {_listed([each.bytes_over for each in shipped])}",
        f"rows fetched: {_listed([each.rows_back for each in shipped])}",
        f"bytes fetched: {_listed([each.bytes_back for each in shipped])}",
    )
    what = f"followed: {found.gone} rows gone, {found.new} new, {found.moved} at another level"
    return ", ".join([what, *(parts if shipped else parts[:1])])


def _listed(numbers: Sequence[int]) -> str:
    return " + ".join(map(str, numbers[:_MOST_TOLD])) + (" + .." if len(numbers) > _MOST_TOLD else "")


class _Closing:
    """A stream of kept rows; ``ended`` is called once when nobody reads them any more, ``failed`` where they could not be read."""

    def __init__(self, stream: ResultStream, ended: Callable[[], None], failed: Callable[[], None]) -> None:
        self.columns, self.schema = stream.columns, stream.schema
        self._stream = stream
        self._ended, self._failed = ended, failed
        self._is_over = False

    def next_batch(self) -> pa.RecordBatch | None:
        try:
            batch = self._stream.next_batch()
        except BaseException:
            try:
                self._stream.close()
            finally:
                self._over(self._failed)
            raise
        if batch is None:
            self._over(self._ended)
        return batch

    def close(self) -> None:
        try:
            self._stream.close()
        finally:
            self._over(self._ended)

    def _over(self, what: Callable[[], None]) -> None:
        if not self._is_over:
            self._is_over = True
            what()
