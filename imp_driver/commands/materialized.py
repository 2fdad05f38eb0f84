"""Materialized views: the rows of a query in a Delta table, brought up to date by writing what has changed.

What is written is the difference between the rows that the table has and those that the query has, in one commit with the change data feed.
So a refresh that was killed, or came after somebody else's change of the table, is made good by the next one. Two at once are one: both
have the transaction identifier of the version whose rows they compared, of which Delta takes the first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from uuid import uuid4

import numpy as np
import pyarrow as pa

from imp_driver.changes import NO_SKETCH, Changes
from imp_driver.commands.bag_changes import BagChanges, bag_changes
from imp_driver.commands.local import LocalStream
from imp_driver.commands.running import RunOne, rows_of_stream, without_rows
from imp_driver.commands.typed_views import typed_view
from imp_driver.errors import OperationalError, ProgrammingError
from imp_driver.parse.batch_insert import BatchInsert
from imp_driver.parse.statement import check_query, parse
from imp_driver.parse.views import NewView, read_dropped, read_name, read_new_view
from imp_driver.plan.result_keys import result_keys
from imp_driver.ports import Outcome, RelationKind, Session
from imp_driver.reasons import ServedBy
from imp_driver.state.named_views import Schedule
from imp_driver.values.execution import Execution
from imp_driver.values.quoting import qualified, quoted_name
from imp_driver.values.report import SketchReport
from imp_driver.values.tables import UNFIT_CHARACTERS, TableSnapshot, at_version
from imp_driver.values.view_policy import NAMESPACE, PROPERTY, QUERY, SECONDS, ViewPolicy, policy_named

_WHAT, _TO = "__imp_what", "__imp_to_"
_DELETED, _INSERTED, _CHANGED = "D", "I", "U"
_IDENTIFIER, _VERSION = "spark.databricks.delta.write.txnAppId", "spark.databricks.delta.write.txnVersion"
_REMARK = "spark.databricks.delta.commitInfo.userMetadata"
_VIEW = "imp.view"
_MARK = f'{{"{_VIEW}":'
_COMMITS_LOOKED_AT = 20


@dataclass(frozen=True, slots=True)
class _Compared:
    """The rows of a query that were those of a version of a table."""

    table_id: str
    version: int
    rows: pa.Table

    def is_again(self, target: TableSnapshot, rows: pa.Table) -> bool:
        return (target.table_id, target.version) == (self.table_id, self.version) and rows.equals(self.rows)


class MaterializedViews:
    """The materialized views of one connection; ``run_one`` runs another statement on behalf of a command, ``in_sql`` translates SPARQL."""

    def __init__(
        self,
        session: Session,
        changes: Changes,
        check_followed: Callable[[NewView, Execution], None],
        run_one: RunOne,
        schedule: Schedule,
        in_sql: Callable[[str], str],
    ) -> None:
        self._in_sql = in_sql
        self._session = session
        self._changes = changes
        self._check_followed = check_followed
        self._run_one = run_one
        self._schedule = schedule
        self._compared: dict[tuple[str, ...], _Compared] = {}

    def create(self, text: str, execution: Execution) -> Outcome:
        """Make a table of the rows of a query, in one commit. Where that fails, a table that was there stays as it is.

        Raises:
            NotSupportedError: the policy asks for changes to be followed that could only be captured again.
            ProgrammingError: the name is that of something else, or the query cannot be read.
            OperationalError: the policy is STRICT, and Spark would compute the rows.
        """
        wanted = typed_view(read_new_view(text), self._session, execution, self._in_sql)
        if wanted.has_provenance:
            raise ProgrammingError("WITH PROVENANCE is for incremental views, whose rows are computed here: CREATE INCREMENTAL VIEW.")
        if self._session.resolve(wanted.name) is not None:
            if wanted.may_exist:
                return Outcome(None, -1, NO_SKETCH)
            self._check_replaced(wanted)
        if wanted.policy.is_followed:
            self._check_followed(wanted, execution)
        rows, report = self._rows(wanted.name, wanted.query, wanted.policy, execution)
        _check_names(wanted, rows.column_names)
        view = _row_view()
        # Two columns may have one name, and the table others.
        shown = rows.rename_columns([f"c{place}" for place in range(rows.num_columns)])
        batch = BatchInsert(wanted.table_text(self._namespace(execution), view), view, shown)
        with self._settings({_REMARK: _remark(report)}, execution):
            self._changes.write(parse(batch.text), batch, execution)
        self._schedule.changes += 1
        made = self._changes.target(parse(f"DELETE FROM {qualified(wanted.name)}"))
        return Outcome(None, rows.num_rows, replace(report, version=None if made is None else made.version))

    def _check_replaced(self, wanted: NewView) -> None:
        if not wanted.replaces:
            what = "CREATE OR REPLACE and IF NOT EXISTS say what is to happen then."
            raise ProgrammingError(f"{qualified(wanted.name)} already exists. {what}")
        self._properties(wanted.name)

    def drop(self, argument: str, execution: Execution) -> None:
        """Drop the table of a materialized view. Raises ProgrammingError where there is none of this name."""
        name, may_miss = read_dropped(argument)
        if may_miss and self._session.resolve(name) is None:
            return
        self._properties(name)
        without_rows(self._run_one, f"DROP TABLE {qualified(name)}", execution)
        self._schedule.changes += 1

    def refresh(self, argument: str, execution: Execution) -> Outcome:
        """Write what has changed of the rows; the row count is that of deleted, inserted and changed rows together.

        Raises:
            ProgrammingError: there is no materialized view of this name.
            OperationalError: the policy is STRICT, and Spark would compute the rows.
            Error: the query or the write failed; the table is as it was.
        """
        name = read_name(argument)
        properties = self._properties(name)
        change = parse(f"DELETE FROM {qualified(name)}")
        target = self._changes.target(change)
        if target is None:
            raise OperationalError(f"{qualified(name)} cannot be read in process, so that its rows cannot be compared.")
        policy = policy_named(properties[PROPERTY]) or ViewPolicy.AUTO
        with self._in(tuple(json.loads(properties[NAMESPACE])), execution):
            found, report = self._rows(name, properties[QUERY], policy, execution)
        compared = self._compared.get(name)
        if compared is not None and compared.is_again(target, found):
            return Outcome(None, 0, replace(report, version=target.version))
        old = self._session.read(f"SELECT * FROM {at_version(qualified(name), target.version)}", execution)
        new = _as_columns_of(old, found, name)
        changes = None if policy is ViewPolicy.FULL else bag_changes(old, new, result_keys(parse(properties[QUERY]).tree))
        if changes is not None and not changes.count:
            self._compared[name] = _Compared(target.table_id, target.version, found)
            return Outcome(None, 0, replace(report, version=target.version))
        batch, count = _overwriting(name, old, new) if changes is None else _merging(name, changes)
        marks = {_IDENTIFIER: f"imp {target.table_id}", _VERSION: str(target.version + 1), _REMARK: _remark(report)}
        with self._settings(marks, execution):
            written = self._changes.write(change, batch, execution)
        return Outcome(None, count, replace(report, version=written.report.version))

    def shown(self, execution: Execution) -> LocalStream:
        """Return a row for each materialized view of the current schema."""
        catalog, schema = self._namespace(execution)
        listed = self._session.read(f"SHOW TABLES IN {qualified((catalog, schema))}", execution).to_pylist()
        names = [(catalog, schema, row["tableName"]) for row in listed if not row["isTemporary"]]
        every = [(name, self._known(name)) for name in sorted(names)]
        found = [(name, properties) for name, properties in every if properties is not None]
        commits = [self._last_commit(name, execution) for name, _ in found]
        text = pa.string()
        return LocalStream(
            {
                "view_name": (text, [".".join(name) for name, _ in found]),
                "policy": (text, [properties[PROPERTY] for _, properties in found]),
                "version": (pa.int64(), [version for version, _ in commits]),
                "versions": (text, [versions for _, versions in commits]),
                "every_seconds": (pa.int64(), [int(properties[SECONDS]) if SECONDS in properties else None for _, properties in found]),
                "problem": (text, [self._schedule.problems.get(name) for name, _ in found]),
                "statement": (text, [properties[QUERY] for _, properties in found]),
            }
        )

    def _last_commit(self, name: tuple[str, ...], execution: Execution) -> tuple[int | None, str | None]:
        """Return the newest version of a table, and those of the source tables that the newest remark of a refresh has."""
        commits = self._session.read(f"DESCRIBE HISTORY {qualified(name)} LIMIT {_COMMITS_LOOKED_AT}", execution)
        remarks = [remark for remark in commits.column("userMetadata").to_pylist() if remark is not None and remark.startswith(_MARK)]
        versions = json.dumps(json.loads(remarks[0])[_VIEW]) if remarks else None
        return commits.column("version")[0].as_py(), versions

    def _rows(self, name: tuple[str, ...], query: str, policy: ViewPolicy, execution: Execution) -> tuple[pa.Table, SketchReport]:
        """Return the rows of a query, and how they were had."""
        check_query(query, f"That of {qualified(name)}")
        outcome = self._run_one(execution.of(query))
        if outcome.stream is None:
            raise ProgrammingError(f"The query of {qualified(name)} has no rows.")
        if policy is ViewPolicy.STRICT and outcome.report.served_by is not ServedBy.STATE:
            outcome.stream.close()
            raise OperationalError(f"{qualified(name)} has POLICY STRICT, and its rows are not answered from what is maintained.")
        return rows_of_stream(outcome.stream), outcome.report

    def _properties(self, name: tuple[str, ...]) -> Mapping[str, str]:
        properties = self._known(name)
        if properties is None:
            relation = self._session.resolve(name)
            what = "There is nothing of this name" if relation is None else f"{qualified(name)} is a {relation.kind.value}"
            if relation is not None and relation.view is not None and relation.view.policy is not None:
                what = f"{qualified(name)} is an incremental view: up to date whenever it is read, dropped by DROP INCREMENTAL VIEW"
            raise ProgrammingError(f"There is no materialized view {qualified(name)}. {what}.")
        return properties

    def _known(self, name: tuple[str, ...]) -> Mapping[str, str] | None:
        """Return the properties of a materialized view; None for anything else."""
        relation = self._session.resolve(name)
        definition = self._session.definition(name) if relation is not None and relation.kind is RelationKind.DELTA_TABLE else None
        is_one = definition is not None and {PROPERTY, QUERY, NAMESPACE} <= definition.properties.keys()
        return definition.properties if definition is not None and is_one else None

    def _namespace(self, execution: Execution) -> tuple[str, ...]:
        (row,) = self._session.read("SELECT current_catalog() AS catalog, current_schema() AS name", execution).to_pylist()
        return row["catalog"], row["name"]

    @contextmanager
    def _in(self, namespace: tuple[str, ...], execution: Execution) -> Iterator[None]:
        """Have names found in the schema of a view's query."""
        before = self._namespace(execution)
        if before == namespace:
            yield
            return
        without_rows(self._run_one, f"USE {qualified(namespace)}", execution)
        try:
            yield
        finally:
            without_rows(self._run_one, f"USE {qualified(before)}", execution)

    @contextmanager
    def _settings(self, values: Mapping[str, str], execution: Execution) -> Iterator[None]:
        """Have the next commit bear an identifier and a remark, and none after it."""
        try:
            for name, value in values.items():
                without_rows(self._run_one, f"SET {name} = {value}", execution)
            yield
        finally:
            for name in values:
                without_rows(self._run_one, f"RESET {name}", execution)


def _check_names(wanted: NewView, names: Sequence[str]) -> None:
    """Raise ProgrammingError where a column of the query has a name that no column of a table has."""
    unfit = [] if wanted.columns else [name for name in names if set(name) & UNFIT_CHARACTERS]
    if unfit:
        told = f"The column {unfit[0]} of the query can be none of a table. Give it another name: .. AS name"
        raise ProgrammingError(f"{told}, or name all columns: CREATE MATERIALIZED VIEW {qualified(wanted.name)} (name, ..) AS ..")


def _as_columns_of(old: pa.Table, found: pa.Table, name: tuple[str, ...]) -> pa.Table:
    """Return the rows of a query with the columns of its table. Raises OperationalError where these are others by now."""
    flat = [(one, other) for one, other in zip(old.schema.types, found.schema.types, strict=False) if not pa.types.is_nested(one)]
    if found.num_columns == old.num_columns and all(one == other for one, other in flat):
        with suppress(pa.ArrowException):
            return found.rename_columns(old.column_names).cast(old.schema)
    raise OperationalError(
        f"{qualified(name)} has other columns than its query by now ({old.schema.to_string()!r} and {found.schema.to_string()!r}). "
        "CREATE OR REPLACE MATERIALIZED VIEW makes it anew."
    )


def _row_view() -> str:
    return f"__imp_rows_{uuid4().hex}"


def _remark(report: SketchReport) -> str:
    return json.dumps({_VIEW: dict(report.tables)}, separators=(",", ":"))


def _overwriting(name: Sequence[str], old: pa.Table, new: pa.Table) -> tuple[BatchInsert, int]:
    view = _row_view()
    return BatchInsert(f"INSERT OVERWRITE {qualified(tuple(name))} SELECT * FROM {view}", view, new), old.num_rows + new.num_rows


def _merging(name: Sequence[str], changes: BagChanges) -> tuple[BatchInsert, int]:
    view = _row_view()
    columns = changes.inserted.column_names
    names = [quoted_name(column) for column in columns]
    listed = ", ".join(names)
    to = [f"{_TO}{place}" for place in range(len(columns))]
    marked = [_marked(changes.deleted, _DELETED), _marked(changes.inserted, _INSERTED)]
    if not changes.deleted.num_rows and not changes.before.num_rows:
        text = f"INSERT INTO {qualified(tuple(name))} SELECT {listed} FROM {view}"
    else:
        same = " AND ".join(f"t.{each} <=> s.{each}" for each in names)
        text = f"MERGE INTO {qualified(tuple(name))} AS t USING {view} AS s ON s.{_WHAT} <> '{_INSERTED}' AND {same}"
        if changes.before.num_rows:
            changed = ", ".join(f"{each} = s.{new}" for each, new in zip(names, to, strict=True))
            text += f" WHEN MATCHED AND s.{_WHAT} = '{_CHANGED}' THEN UPDATE SET {changed}"
            changing = _marked(changes.before, _CHANGED)
            for place, column in zip(to, changes.after.columns, strict=True):
                changing = changing.append_column(place, column)
            marked = [pa.concat_tables([changing, *marked], promote_options="default")]
        text += (
            f" WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND s.{_WHAT} = '{_INSERTED}' "
            f"THEN INSERT ({listed}) VALUES ({', '.join(f's.{each}' for each in names)})"
        )
    return BatchInsert(text, view, pa.concat_tables(marked)), changes.count


def _marked(rows: pa.Table, what: str) -> pa.Table:
    return rows.append_column(_WHAT, pa.array(np.full(rows.num_rows, what), pa.string()))
