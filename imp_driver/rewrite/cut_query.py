"""A query with its sketches, run by Spark."""

from __future__ import annotations

from dataclasses import dataclass, replace

from imp_driver.maintain.upkeep import Means
from imp_driver.ports import Session
from imp_driver.reasons import Reason
from imp_driver.rewrite.comparison import Served
from imp_driver.rewrite.rewriter import Rewriter
from imp_driver.rewrite.summary import report_of
from imp_driver.snapshot.reading import Reading, is_still
from imp_driver.values.execution import Execution
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import ChangeSource


@dataclass(frozen=True, slots=True)
class CutQueries:
    """Serves the queries of one connection with sketches."""

    session: Session
    source: ChangeSource
    rewriter: Rewriter

    def serve(self, reading: Reading, execution: Execution, means: Means) -> Served:
        """Run a cut query, then make sure that it read the table which its sketches stand for.

        Raises:
            Refused: it has no sketch, or it read another table.
            Error: Spark failed.
        """
        rewritten = self.rewriter.rewrite(reading, execution, means)
        report = replace(report_of(rewritten.parts), executed_sql=rewritten.text, times=execution.watch.times)
        with execution.watch.stage("execute"):
            stream = self.session.execute(execution.with_text(rewritten.text))
        self.rewriter.note_time(rewritten, execution.watch.times["execute"] / 1000)
        if report.reason is Reason.COVERS_ALMOST_ALL:
            return Served(stream, report)
        if not all(is_still(self.source, snapshot) for snapshot in rewritten.snapshots):
            stream.close()
            raise Refused(Reason.TABLE_CHANGED_MEANWHILE)
        return Served(stream, report, rewritten.pinned_text, tuple(part.prepared.relation for part in rewritten.parts))
