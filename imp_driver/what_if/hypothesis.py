"""What tables would have after some changes: their signed rows, and all their rows in SQL, at one version of each table.

Nothing is written. Each change is evaluated by Spark over what those before it leave, and checked by Spark as the statement that it is
(``EXPLAIN``).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from imp_driver.errors import DataError, Error, IntegrityError, NotSupportedError, ProgrammingError
from imp_driver.parse.dialect import SparkText
from imp_driver.parse.statement import Statement, StatementKind, parse, table_name, tables_in
from imp_driver.plan.check import check, checked_tree
from imp_driver.ports import RelationKind, Session, TableDefinition
from imp_driver.reasons import Reason
from imp_driver.rewrite.splice import Pin, check_every, find_reference, pin_of, pinned
from imp_driver.snapshot.reader import Reader
from imp_driver.snapshot.reading import Reading
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.execution import Execution
from imp_driver.values.quoting import qualified, quoted_name
from imp_driver.values.refusal import Grounds, Refused
from imp_driver.values.tables import TableSnapshot, ZSet, at_version
from imp_driver.values.types import arrow_type
from imp_driver.what_if.effects import Effect, inserted, listed, of_delete, of_insert, of_update, sql
from imp_driver.what_if.merge import of_merge
from imp_driver.what_if.rules import CONSTRAINT, check_nulls, check_table, in_partition, is_plain, partitioned
from imp_driver.what_if.written_rows import WrittenRows, written_rows

_CONDITION, _STATE = re.compile(r"\[([A-Z_.\d]+)\]"), re.compile(r"SQLSTATE: (\w{5})")
_BY_STATE = {"22": DataError, "23": IntegrityError, "0A": NotSupportedError}
MOST_ROWS = 1_000_000
"""Signed rows of one change that are held in memory."""


@dataclass(slots=True, eq=False)
class Supposed:
    """One table after the changes so far.

    Attributes:
        snapshot: the version that the changes are of.
        relation: its rows by now, a query in brackets over versions of tables.
        rows, weights: what has changed.
    """

    snapshot: TableSnapshot
    relation: str
    rows: list[pa.Table] = field(default_factory=list)
    weights: list[npt.NDArray[np.int64]] = field(default_factory=list)

    def signed(self) -> ZSet:
        return ZSet(pa.concat_tables(self.rows), np.concatenate(self.weights))


class Moved(Exception):
    """A table was read at two versions."""


class Hypothesis:
    """The changes of one WHAT IF. ``tables`` are those that it changes, by location."""

    def __init__(
        self, session: Session, reader: Reader, execution: Execution, definitions: BoundedCache[Hashable, TableDefinition]
    ) -> None:
        self._session = session
        self._definitions = definitions
        self._reader = reader
        self._execution = execution
        self._versions: dict[str, int] = {}
        self._read: dict[str, Mapping[tuple[str, ...], tuple[str, str, int]]] = {}
        self.tables: dict[str, Supposed] = {}

    def is_current(self) -> bool:
        """Say whether all that the changes read is still what it was, under the same names."""
        try:
            return all(_seen(self._reading(text)) == seen for text, seen in self._read.items())
        except Refused:
            return False

    def suppose(self, text: str) -> None:
        """Make one more change.

        Raises:
            NotSupportedError: of a form that is not followed.
            ProgrammingError, IntegrityError: it would fail.
            Error: Spark failed.
            Moved: some table has a newer version by now.
        """
        written = written_rows(text)
        if written is None or not self._is_written(written):
            self._evaluate(text)

    def _is_written(self, written: WrittenRows) -> bool:
        """Make an INSERT of literals; False where Spark is to say whether it can be made, and what its rows are."""
        try:
            tree = sqlglot.parse_one(f"{written.head} VALUES (NULL)", read=SparkText)
            assert isinstance(tree, exp.Insert)
            table, definition, name = self._table(tree)
            effect = self._effect(tree, table, written.text)
            rows = written.table(inserted(tree, table.snapshot.schema)[1], table.snapshot.schema)
        except (SqlglotError, Refused, NotSupportedError, ProgrammingError):
            return False
        if rows is None or not is_plain(definition):
            return False
        self._note(table, effect, _typed(rows, table.snapshot), np.ones(rows.num_rows, np.int64), definition, name)
        return True

    def _evaluate(self, text: str) -> None:
        try:
            tree = sqlglot.parse_one(text, read=SparkText)
        except SqlglotError as error:
            self._explained(text)
            raise NotSupportedError(f"WHAT IF cannot read {text[:200]!r}.") from error
        if not isinstance(tree, (exp.Insert, exp.Update, exp.Delete, exp.Merge)):
            raise ProgrammingError(f"WHAT IF supposes INSERT, UPDATE, DELETE and MERGE; this is {tree.key.upper()}: {text[:200]}")
        self._explained(text)
        try:
            check(checked_tree(Statement(text, StatementKind.CHANGE, tree)), but=(exp.Values, exp.Window))
            table = self._table(tree)
            self._apply(self._effect(tree, table[0]), *table)
        except Refused as refused:
            raise NotSupportedError(f"WHAT IF does not follow this change ({refused.grounds.told}): {text[:200]}") from None

    def text_of(self, statement: Statement) -> str:
        """Return a query's text over the tables as they would be. Raises Refused, or Moved."""
        pins = [
            Pin(find_reference(statement, table), 0, relation=f"({self._relation(table)})")
            for table in _tables(checked_tree(statement), self._session)
        ]
        return pinned(statement, pins)

    def check(self, reading: Reading) -> None:
        """Raise Moved where a query reads another version of a table than the changes do."""
        if any(
            self._versions.get(each.snapshot.location, each.snapshot.version) != each.snapshot.version for each in reading.tables.values()
        ):
            raise Moved

    def _relation(self, table: exp.Table) -> str:
        """Return a query of the rows of a table or view as they would be."""
        reading = self._noted(f"SELECT * FROM {qualified(table_name(table))}")
        self.check(reading)
        if isinstance(reading.text.plan, Grounds):
            raise Refused.on(reading.text.plan)
        pins = []
        for scan in reading.text.scans:
            snapshot = reading.tables[scan.table].snapshot
            supposed = self.tables.get(snapshot.location)
            pins.append(pin_of(reading.statement, scan, snapshot.version, "" if supposed is None else supposed.relation))
        check_every(reading.statement, pins)
        return pinned(reading.statement, pins)

    def _reading(self, text: str) -> Reading:
        return self._reader.read(parse(text), self._execution.of(text))

    def _noted(self, text: str) -> Reading:
        """Read all of a table or view, every table at one version. Raises Refused, or Moved."""
        reading = self._reading(text)
        if reading.text.asked:
            raise Refused(Reason.NON_DETERMINISTIC, ", ".join(sorted(reading.text.asked)))
        self._read[text] = _seen(reading)
        for location, _, version in self._read[text].values():
            if self._versions.setdefault(location, version) != version:
                raise Moved
        return reading

    def _explained(self, text: str) -> None:
        """Have Spark analyse a change. Raises Error with what it says."""
        rows = self._session.read(f"EXPLAIN {text}", self._execution).column(0).to_pylist()
        told = "\n".join(rows)
        if told.startswith("Error occurred during query planning"):
            # Behind the first line stands the plan.
            raise _as_error(next(filter(None, map(str.strip, told.splitlines()[1:])), told).rstrip(";"))

    def _table(self, tree: exp.Expr) -> tuple[Supposed, TableDefinition, tuple[str, ...]]:
        target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        name = table_name(target)
        relation = self._session.resolve(name)
        if relation is None or relation.kind is not RelationKind.DELTA_TABLE or relation.location is None:
            what = "nothing of this name" if relation is None else f"a {relation.kind.value}"
            raise NotSupportedError(f"WHAT IF changes Delta tables; {qualified(name)} is {what}.")
        reading = self._noted(f"SELECT * FROM {qualified(relation.name)}")
        if not reading.tables:
            raise Refused.on(reading.text.plan if isinstance(reading.text.plan, Grounds) else Grounds(Reason.NOT_A_DELTA_TABLE))
        snapshot = next(iter(reading.tables.values())).snapshot
        definition = self._definition(relation.name, snapshot)
        first = Supposed(snapshot, f"(SELECT * FROM {at_version(qualified(relation.name), snapshot.version)})")
        return self.tables.setdefault(snapshot.location, first), definition, relation.name

    def _definition(self, name: tuple[str, ...], snapshot: TableSnapshot) -> TableDefinition:
        key = name, snapshot.location, snapshot.table_id, snapshot.version
        found = self._definitions.get(key) or self._session.definition(name)
        if found is None:
            raise NotSupportedError(f"{qualified(name)} is not described by the current catalog.")
        self._definitions[key] = found
        return found

    def _effect(self, tree: exp.Expr, table: Supposed, written: str = "") -> Effect:
        columns = table.snapshot.schema
        match tree:
            case exp.Delete():
                return self._spliced(of_delete(tree, columns))
            case exp.Update():
                return self._spliced(of_update(tree, columns))
            case exp.Merge():
                return self._spliced(of_merge(tree, columns))
        assert isinstance(tree, exp.Insert)
        effect = of_insert(tree, columns, written)
        if not isinstance(tree.expression, exp.Values) or tree.expression.find(exp.Table) is not None:
            return self._spliced(effect)
        # Of rows that are written down there may be many, which take longest to be read once more.
        return replace(self._spliced(replace(effect, added="")), added=effect.added)

    def _spliced(self, effect: Effect) -> Effect:
        return Effect(**{name: text and self.text_of(parse(text)) for name, text in asdict(effect).items()})

    def _apply(self, effect: Effect, table: Supposed, definition: TableDefinition, name: tuple[str, ...]) -> None:
        check_table(definition, name, is_insert=not effect.removed, has_new=bool(effect.added))
        if effect.pairs:
            counts = self._session.read(
                f"SELECT (SELECT count(*) FROM ({effect.pairs})) AS p, (SELECT count(*) FROM ({effect.touched})) AS t", self._execution
            )
            pairs, touched = (int(column[0].as_py()) for column in counts.columns)
            if pairs > touched:
                raise ProgrammingError(f"Several rows of the MERGE's source match one row of {qualified(name)}, and would change it.")
        found = self._session.read(f"SELECT * FROM ({effect.signed}) LIMIT {MOST_ROWS + 1}", self._execution)
        if found.num_rows > MOST_ROWS:
            raise NotSupportedError(f"WHAT IF holds changes in memory, of at most {MOST_ROWS} rows each.")
        weights = found.column(0).to_numpy(zero_copy_only=False).astype(np.int64)
        self._check_constraints(effect.added, definition, name)
        self._note(table, effect, _typed(found.remove_column(0), table.snapshot), weights, definition, name)

    def _note(
        self,
        table: Supposed,
        effect: Effect,
        rows: pa.Table,
        weights: npt.NDArray[np.int64],
        definition: TableDefinition,
        name: tuple[str, ...],
    ) -> None:
        rows = partitioned(rows, definition)
        check_nulls(rows.filter(pa.array(weights > 0)), definition, name)
        table.rows.append(rows)
        table.weights.append(weights)
        columns = table.snapshot.schema
        # By names of its own, Spark tells two readings of one UNION apart, one of them in a subquery that reads the row around it.
        own = [in_partition(quoted_name(each.name), each.name, definition) for each in columns]
        table.relation = f"(SELECT {listed(own, columns)} FROM {effect.after})"

    def _check_constraints(self, added: str, definition: TableDefinition, name: tuple[str, ...]) -> None:
        for key, condition in definition.properties.items():
            if added and key.startswith(CONSTRAINT):
                text = f"SELECT * FROM ({added}) WHERE NOT coalesce(({condition}), FALSE) LIMIT 1"
                rows = self._session.read(text, self._execution)
                if rows.num_rows:
                    told = f"{qualified(name)} has the constraint {key.removeprefix(CONSTRAINT)} CHECK ({condition})"
                    raise IntegrityError(f"{told}, which a row would not meet: {rows.to_pylist()[0]}")


def _seen(reading: Reading) -> Mapping[tuple[str, ...], tuple[str, str, int]]:
    snapshots = {name: table.snapshot for name, table in reading.tables.items()}
    return {name: (each.location, each.table_id, each.version) for name, each in snapshots.items()}


def _as_error(told: str) -> Error:
    """Return what Spark says of a statement as the error that it would be."""
    condition, state = _CONDITION.match(told), _STATE.search(told)
    sqlstate = None if state is None else state[1]
    kind = ProgrammingError if sqlstate is None else _BY_STATE.get(sqlstate[:2], ProgrammingError)
    if condition is not None and "UNSUPPORTED" in condition[1]:
        kind = NotSupportedError
    return kind(told, error_class=None if condition is None else condition[1], sqlstate=sqlstate)


def _tables(tree: exp.Expr, session: Session) -> Iterator[exp.Table]:
    """Yield the references to tables and views. Raises Refused for what stands for rows otherwise."""
    common = {each.alias.lower() for each in tree.find_all(exp.CTE)}
    for table in tables_in(tree):
        if not isinstance(table.this, exp.Identifier):
            raise Refused(Reason.TABLE_FUNCTION, sql(table))
        if table.args.get("version") or table.args.get("when"):
            raise Refused(Reason.TIME_TRAVEL, sql(table))
        if len(table.parts) > 1 or table.name.lower() not in common:
            yield table
        elif session.resolve(table_name(table)) is not None:
            raise Refused(Reason.AMBIGUOUS_NAME, f"{table.name} is a table, and stands for a query in WITH")


def _typed(rows: pa.Table, snapshot: TableSnapshot) -> pa.Table:
    """Return rows as the reader of changed files gives them."""
    kinds = [arrow_type(each.type_name) or column.type for each, column in zip(snapshot.schema, rows.columns, strict=True)]
    fields = [pa.field(each.name, kind) for each, kind in zip(snapshot.schema, kinds, strict=True)]
    return pa.table([column.cast(kind) for column, kind in zip(rows.columns, kinds, strict=True)], schema=pa.schema(fields))
