"""A query whose recursions are left to Spark: rounds first, then what stands above them over the rows that these have found."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from imp_driver.answer.recursion.by_spark import EngineRounds, Round
from imp_driver.answer.rest import renamed
from imp_driver.ports import KeptRows, ResultShape, ResultStream, Session
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.rewrite.comparison import Served
from imp_driver.snapshot.reading import Reading
from imp_driver.values.execution import Execution
from imp_driver.values.quoting import qualified
from imp_driver.values.refusal import Grounds
from imp_driver.values.report import SketchReport
from imp_driver.values.tables import at_version

_MOST_TOLD = 12


def served_by_rounds(session: Session, reading: Reading, shape: ResultShape, execution: Execution, why: Grounds) -> Served:
    """Compute the recursions of a query at the versions of a reading, and start what stands above them.

    Args:
        why: they are left to Spark.

    Raises:
        Refused: a recursion does not end, or Spark would have other values than the query.
        Error: Spark failed, or the run was cancelled; nothing is kept there then.
    """
    versions = {name: table.snapshot.version for name, table in reading.tables.items()}
    plan = reading.with_values(reading.text.whole(), reading.parameters(execution.parameters))
    kept = session.kept_rows(execution)
    try:
        rounds = EngineRounds(session, kept, lambda scan: at_version(qualified(scan.table), versions[scan.table]), execution)
        with execution.watch.stage("rounds"):
            text = rounds.query(plan)
        with execution.watch.stage("execute"):
            rows = renamed(session.execute(execution.of(text)), shape)
    except BaseException:
        kept.close()
        raise
    report = SketchReport(
        Decision.NOT_USED,
        Reason.RECURSION_BY_SPARK,
        "; ".join(map(_told, rounds.progress)),
        tables={".".join(name): version for name, version in versions.items()},
        times=execution.watch.times,
        executed_sql=text,
        served_by=ServedBy.SPARK_BY_ROUNDS,
        not_answered=why,
    )
    return Served(_Closing(rows, kept), report)


def _told(rounds: Sequence[Round]) -> str:
    """Say how many rounds there were, how many rows the bases and then each round found, and how much went through one machine for it."""
    found, handed_over = _listed([each.rows for each in rounds]), _listed([each.handed_over for each in rounds])
    return f"rounds: {len(rounds) - 1}, rows: {sum(each.rows for each in rounds)} = {found}, bytes handed over: {handed_over}"


def _listed(numbers: Sequence[int]) -> str:
    return " + ".join(map(str, numbers[:_MOST_TOLD])) + (" + .." if len(numbers) > _MOST_TOLD else "")


class _Closing:
    """A stream that lets go of kept rows when it has ended."""

    def __init__(self, stream: ResultStream, kept: KeptRows) -> None:
        self.columns, self.schema = stream.columns, stream.schema
        self._stream, self._kept = stream, kept

    def next_batch(self) -> pa.RecordBatch | None:
        try:
            batch = self._stream.next_batch()
        except BaseException:
            self.close()
            raise
        if batch is None:
            self._kept.close()
        return batch

    def close(self) -> None:
        try:
            self._stream.close()
        finally:
            self._kept.close()
