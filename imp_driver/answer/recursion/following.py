"""Recursions whose rows an engine keeps, brought from the versions of one reading to those of the next by what has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from imp_driver.answer.recursion.derivation_texts import DerivationForm, NotFollowed, columns_read, derivation_forms
from imp_driver.answer.recursion.engine_rows import ChangedTable, EngineRows, Shipped, rows_table
from imp_driver.answer.recursion.kept_state import KeptRecursion, KeptRelation, TableVersion
from imp_driver.answer.recursion.round_texts import LEVEL
from imp_driver.answer.recursion.rounds import EndlessRecursion, endless
from imp_driver.answer.recursion.shown import ShownTables
from imp_driver.answer.recursion.sorted_tables import Changer, ReadTables
from imp_driver.answer.recursion.sorting import Sorting
from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.frontier import MOST_ROWS, Frontier, TooMuchChanges
from imp_driver.dataflow.recursion.levels import Endless
from imp_driver.dataflow.zset import consolidated
from imp_driver.errors import Error, raise_if_cancelled
from imp_driver.maintain.changes import signed_rows
from imp_driver.plan.nodes import Fixpoint, Scan
from imp_driver.plan.render import RelationOf
from imp_driver.ports import COLLATED, NESTED_CHAR, KeptRows, Session
from imp_driver.reasons import DeltaSource, Reason
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import RowRules
from imp_driver.values.tables import ChangeSource, ChangesUnavailable, TableSnapshot

MOST_CHANGED = 50_000
"""Changed rows of a relation that stay beside the others; then all are written anew. Copies of a table with more changes are given up."""
_QUESTIONS, _QUESTIONS_PER_ROUND = 12, 5
"""Beyond so many questions, and so many for each round that computed all rows, these are computed anew."""

_KNOWN: tuple[Callable[[pa.DataType], bool], ...] = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_string,
    pa.types.is_boolean,
    pa.types.is_date32,
    lambda kind: pa.types.is_timestamp(kind) and kind.tz is not None,
)
"""Types whose values are told apart here as the engine does, and that it takes over as what they are, which it does not of local times."""


@dataclass(frozen=True, slots=True)
class Followed:
    """What it took to follow a recursion: rows that are gone, that are new, and that have another level, and each question."""

    gone: int
    new: int
    moved: int
    shipped: Sequence[Shipped]


@dataclass(slots=True, eq=False)
class Following:
    """Follows the recursions of one query.

    Attributes:
        states: those that are kept, by signature.
        tables: at the versions of the reading, by the names of their scans.
        names: new names.
        shown: tells where the tables are read.
        row_rules: whether the engine may show other rows of a table than its changes have.
        why_not: why recursions were computed anew.
        progress: what it took to follow others.
        sorted: the tables that were copied, each with the columns of the orders.
    """

    session: Session
    source: ChangeSource
    kept: KeptRows
    execution: Execution
    states: dict[str, KeptRecursion]
    tables: Mapping[tuple[str, ...], TableSnapshot]
    names: Iterator[str]
    shown: RelationOf
    row_rules: RowRules
    why_not: list[str] = field(default_factory=list)
    progress: list[Followed] = field(default_factory=list)
    sorted: list[str] = field(default_factory=list)

    def followed(self, name: str, plan: Fixpoint) -> KeptRecursion | None:
        """Return a recursion at the versions of the reading; None where it is to be computed anew.

        Raises:
            Refused: it does not end.
            Error: the run was cancelled.
        """
        state = self.states.pop(name, None)
        if state is None:
            return None
        try:
            self._bring(state, derivation_forms(plan))
        except Endless as error:
            raise EndlessRecursion(Reason.RECURSION, endless(str(error))) from error
        except (NotFollowed, TooMuchChanges, ChangesUnavailable) as error:
            self.why_not.append(str(error))
        except Error as error:
            # Rows that an engine keeps may go with the machine that has them, and files of old versions by VACUUM.
            raise_if_cancelled(error)
            self.why_not.append(f"the engine could not follow it ({type(error).__name__})")
        except (OverflowError, UnicodeDecodeError, pa.ArrowException) as error:
            self.why_not.append(f"some values are not read in process: {type(error).__name__}")
        else:
            self.states[name] = state
            return state
        for each in state.names:
            self.kept.drop(each)
        return None

    def keep(self, name: str, plan: Fixpoint, relations: list[KeptRelation], rounds: int) -> bool:
        """Say whether rows that were computed can be followed from then on, which they are then kept for."""
        try:
            forms = derivation_forms(plan)
            names = {scan.table for form in forms for scan in form.scans.values()}
            _check_columns(forms)
            _check_kinds(relations)
            self._check_rules()
        except NotFollowed as error:
            self.why_not.append(str(error))
            return False
        self.states[name] = KeptRecursion(relations, {each: _version(self.tables[each]) for each in names}, rounds)
        return True

    def _bring(self, state: KeptRecursion, forms: Sequence[DerivationForm]) -> None:
        self._check_rules()
        changed = self._changed(state, forms)
        for relation in state.relations if changed else ():
            if len(relation.parts) > 1:
                # Each question is planned over every part.
                self._merge(relation)
        shown = ShownTables(self.kept, self.names, {name: each.version for name, each in state.tables.items()})
        before = ReadTables(shown, state.sorted)
        changer = Changer(self.kept, lambda text: self.session.read(text, self.execution), self.names)
        try:
            state.sorted = changer.all_changed(state.sorted, {name: each.net for name, each in changed.items()})
            self._follow(state, forms, changed, before)
        finally:
            shown.drop()
            changer.drop([each for name, table in before.sorted.items() if state.sorted.get(name) is not table for each in table.beside])
        state.tables = {name: _version(self.tables[name]) for name in state.tables}
        for name, table in list(state.sorted.items()):
            if len(table.counts) > MOST_CHANGED:
                changer.drop(state.sorted.pop(name).names)
        if changed and not state.sorted:
            self._sort(state, forms)

    def _sort(self, state: KeptRecursion, forms: Sequence[DerivationForm]) -> None:
        """Have copies of tables for the questions of the next readings, where these are worth it."""
        sorting = Sorting(self.session, self.kept, self.execution, self.tables, self.names)
        orders = sorting.worth(forms, state.asked)
        if not orders:
            return
        try:
            state.sorted = sorting.copied(forms, orders)
        except Error as error:
            # What was asked for is there; they are tried again after as many more questions.
            raise_if_cancelled(error)
        state.asked = 0.0
        self.sorted += [f"{'.'.join(name)} by {', '.join(table.copies)}" for name, table in state.sorted.items()]

    def _follow(
        self,
        state: KeptRecursion,
        forms: Sequence[DerivationForm],
        changed: Mapping[tuple[str, ...], ChangedTable],
        before: ReadTables,
    ) -> None:
        engine = EngineRows(
            self.session,
            self.kept,
            self.execution,
            forms,
            state.relations,
            changed,
            before,
            ReadTables(self.shown, state.sorted),
            self.names,
            _QUESTIONS + _QUESTIONS_PER_ROUND * state.rounds,
        )
        frontier = Frontier(engine)
        frontier.follow()
        found: list[dict[Row, int | None]] = [{} for _ in state.relations]
        for (place, row), level in frontier.changes.items():
            found[place][row] = level
        levels = [frontier.before(place) for place in range(len(found))]
        gone = sum(level is None for rows in found for level in rows.values())
        new = sum(levels[place][row] is None for place, rows in enumerate(found) for row in rows)
        for relation, rows, earlier in zip(state.relations, found, levels, strict=True):
            relation.rows += sum((level is not None) - (earlier[row] is not None) for row, level in rows.items())
            self._write(relation, rows)
        state.asked += engine.seconds
        self.progress.append(Followed(gone, new, sum(map(len, found)) - gone - new, engine.shipped))

    def _check_rules(self) -> None:
        if self.row_rules is RowRules.ENGINE and self.session.has_row_rules():
            raise NotFollowed("the engine may have rules of its own about who sees which rows (option row_rules)")

    def _changed(self, state: KeptRecursion, forms: Sequence[DerivationForm]) -> dict[tuple[str, ...], ChangedTable]:
        """Return the changed rows of tables. Raises NotFollowed and ChangesUnavailable."""
        found, read = {}, columns_read(forms)
        for name, before in state.tables.items():
            after = self.tables[name]
            if (before.location, before.table_id) != (after.location, after.table_id):
                raise NotFollowed(f"{'.'.join(name)} is another table")
            if before.version > after.version:
                raise NotFollowed(f"{'.'.join(name)} is read at an older version than before")
            if before.version < after.version:
                columns = tuple(read[name]) or (after.schema[0].name,)
                changed = self._rows(before, after.version, columns)
                if changed is not None:
                    found[name] = changed
        return found

    def _rows(self, before: TableVersion, version: int, columns: tuple[str, ...]) -> ChangedTable | None:
        plan = self.source.plan(before.location, before.table_id, before.version, version)
        if plan.lost(columns):
            raise NotFollowed("a column became another one")
        if plan.source is DeltaSource.NONE:
            return None
        if plan.rows is not None and plan.rows > MOST_ROWS:
            raise NotFollowed(f"more than {MOST_ROWS} rows of a table have changed")
        signed = signed_rows(plan, columns, self.source, lambda text: self.session.read(text, self.execution))
        if len(signed.weights) > MOST_ROWS:
            raise NotFollowed(f"more than {MOST_ROWS} rows of a table have changed")
        _check_told_apart(signed.rows)
        # What came and went in between has both signs, and would be taken for a row of the table.
        return ChangedTable(consolidated(signed))

    def _write(self, relation: KeptRelation, changes: Mapping[Row, int | None]) -> None:
        """Have changes of a relation among those that the engine has."""
        if not changes:
            return
        relation.changes.update({row: -1 if level is None else level for row, level in changes.items()})
        former, relation.changed = relation.changed, next(self.names)
        rows = rows_table(list(relation.changes), relation.kinds)
        levels = pa.array(list(relation.changes.values()), pa.int32())
        self.kept.hand_over(relation.changed, rows.append_column(LEVEL, levels))
        if former:
            self.kept.drop(former)
        if len(relation.changes) > MOST_CHANGED:
            self._merge(relation)

    def _merge(self, relation: KeptRelation) -> None:
        name = next(self.names)
        self.kept.keep(name, relation.form.leveled(relation.names))
        self._drop(relation)
        relation.parts, relation.changed, relation.changes = [name], "", {}

    def _drop(self, relation: KeptRelation) -> None:
        for each in (*relation.parts, *filter(None, [relation.changed])):
            self.kept.drop(each)


def _version(table: TableSnapshot) -> TableVersion:
    return TableVersion(table.location, table.table_id, table.version)


def _is_known(kind: pa.DataType) -> bool:
    return any(is_known(kind) for is_known in _KNOWN)


def _check_kinds(relations: Sequence[KeptRelation]) -> None:
    """Raise NotFollowed where rows cannot be told apart here."""
    for kind in (kind for relation in relations for kind in relation.kinds):
        if not _is_known(kind):
            raise NotFollowed(f"a column of type {kind}")


def _check_told_apart(rows: pa.Table) -> None:
    """Raise NotFollowed where changed rows of a table are not told apart here as a step may do it."""
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        if not _is_known(column.type):
            raise NotFollowed(f"column {name} of a table is of type {column.type}")
        if pa.types.is_string(column.type):
            try:
                column.validate(full=True)
            except pa.ArrowInvalid:
                raise NotFollowed(f"column {name} of a table has text that is no UTF-8") from None
        if pa.types.is_floating(column.type):
            values = column.to_numpy()
            if np.any((values == 0) & np.signbit(values)):
                # It equals 0.0, and is another text.
                raise NotFollowed(f"column {name} of a table has -0.0")


def _check_columns(forms: Sequence[DerivationForm]) -> None:
    """Raise NotFollowed where values of a table are not those that they are once they were handed over."""
    for form in forms:
        for scan in form.scans.values():
            _check_scan(scan, form.wanted)


def _check_scan(scan: Scan, wanted: frozenset[str]) -> None:
    for each in scan.output:
        name = each.type_name or ""
        if each.identifier in wanted and (name.startswith("char(") or name in (COLLATED, NESTED_CHAR) or "collate" in name):
            raise NotFollowed(f"column {each.name} is of CHAR or of a collation")
