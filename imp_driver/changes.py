"""What a statement that writes did to its table: affected rows, the version that it committed, and who must know."""

from __future__ import annotations

from imp_driver.delta.contract import ChangeSource, TableSnapshot
from imp_driver.errors import OperationalError
from imp_driver.maintain.sketches import Sketches
from imp_driver.observe.affected import counted_rows
from imp_driver.parse.statement import Statement
from imp_driver.ports import RelationKind, ResultStream, Session
from imp_driver.versions import ReadTransaction


class Changes:
    """Looks at a table before and after a change."""

    def __init__(self, session: Session, source: ChangeSource, sketches: Sketches, transaction: ReadTransaction) -> None:
        self._session = session
        self._source = source
        self._sketches = sketches
        self._transaction = transaction

    def target(self, statement: Statement) -> TableSnapshot | None:
        """Return the Delta table that a statement is about to change."""
        relation = None if statement.target is None else self._session.resolve(statement.target)
        if relation is None or relation.location is None or relation.kind is not RelationKind.DELTA_TABLE:
            return None
        try:
            return self._source.snapshot(relation.location)
        except OperationalError:
            return None

    def affected(self, stream: ResultStream | None, before: TableSnapshot | None) -> tuple[int, int | None]:
        """Return the affected rows (-1 unknown) and the version that the statement committed, and record it.

        UPDATE, DELETE and MERGE say their count; that of INSERT is in its commit.
        """
        counted = None if stream is None else counted_rows(stream)
        self._sketches.eager.wake()
        version = self._session.last_commit_version()
        if before is None or version is None:
            return -1 if counted is None else counted, None
        try:
            # The next query then finds the new version's log read already.
            newest = self._source.snapshot(before.location).version
            if not before.version < version <= newest:
                # Delta makes no commit for a statement that changes nothing; the session's last one was another's.
                return counted or 0, before.version
            metrics = self._source.commit_metrics(before.location, version) if counted is None else {}
        except OperationalError:
            # The statement is committed; that the table can no longer be read now must not make it fail.
            return -1 if counted is None else counted, None
        self._transaction.note_written(before.location, version)
        return metrics.get("numOutputRows", -1) if counted is None else counted, version
