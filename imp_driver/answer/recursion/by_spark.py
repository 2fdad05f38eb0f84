"""Recursions where one machine ends: their rows stay in the engine, which makes those of each round from those of the round before.

Every table is read at one version in all rounds. What a step reads beside tables that it filters and joins (groups, first rows, windows)
is computed once, so that all rounds read the same rows of it, whatever may tie there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import pyarrow as pa

from imp_driver.answer.recursion.column_types import told_types
from imp_driver.answer.recursion.following import Following
from imp_driver.answer.recursion.kept_state import KeptRelation
from imp_driver.answer.recursion.round_texts import RelationForm
from imp_driver.answer.recursion.rounds import EndlessRecursion, endless
from imp_driver.answer.recursion.shown import ShownTables
from imp_driver.dataflow.recursion.levels import MOST_LEVELS
from imp_driver.errors import cancelled
from imp_driver.plan.best_rows import Best
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.nodes import (
    Attribute,
    Filter,
    Fixpoint,
    Join,
    OneRow,
    Plan,
    Project,
    Recurrence,
    Recursive,
    Scan,
    SemiJoin,
    UnionAll,
    children,
    every,
)
from imp_driver.plan.rebuild import with_inputs
from imp_driver.plan.recursion import as_begun, open_recurrences, reads_recursion
from imp_driver.plan.render import Renderer, read_identifiers
from imp_driver.plan.signature import signature
from imp_driver.ports import COLLATED, NESTED_CHAR, KeptRows, KeptSize, Session
from imp_driver.reasons import Reason
from imp_driver.values.execution import Execution
from imp_driver.values.quoting import quoted_name
from imp_driver.values.refusal import Refused

MOST_ROWS = 1_000_000_000
"""Of a recursion in an engine; one that counts along a cycle would fill its disks."""
MANY_ROWS = 1_000_000
"""Known rows from which on those of a round are made first: where these are few, the known ones need not be sent around to meet them."""
MOST_PARTS = 16
"""Rounds whose rows stay apart; then all but the largest part are one."""
_Texts: TypeAlias = Mapping[str, str]
"""Queries in brackets, by the identifier of the first attribute of what they stand for."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows of a relation that are kept under a name."""

    name: str
    size: KeptSize


@dataclass(frozen=True, slots=True, eq=False)
class _Branch:
    """A base or a step; ``given`` are texts of what it reads and the recursion does not make, ``readings`` the places that read it."""

    plan: Plan
    given: _Texts
    readings: tuple[Recurrence, ...]


@dataclass(slots=True, eq=False)
class _Relation:
    """Mutable: ``parts`` has all rows that are found, ``newest`` those of the last round."""

    form: RelationForm
    kinds: list[pa.DataType]
    output: tuple[Attribute, ...]
    bases: tuple[_Branch, ...]
    steps: tuple[_Branch, ...]
    parts: list[_Part] = field(default_factory=list)
    newest: _Part | None = None

    @property
    def names(self) -> list[str]:
        return [part.name for part in self.parts]


@dataclass(frozen=True, slots=True)
class Round:
    """How many rows a round found, or the bases of a recursion, and the bytes of what was handed over to every task for it."""

    rows: int
    handed_over: int


@dataclass(frozen=True, slots=True)
class _Readable:
    """A relation with all of its rows: how these are kept, and under which names."""

    form: RelationForm
    names: Sequence[str]


class EngineRounds:
    """Computes the recursions of one query; ``kept`` has their rows, ``shown`` tells where tables are read.

    Those of which rows are kept are followed by ``following``. ``passing`` are names that no other run reads.
    """

    def __init__(self, session: Session, kept: KeptRows, shown: ShownTables, execution: Execution, following: Following) -> None:
        self._session = session
        self._following = following
        self._kept = kept
        self._shown = shown
        self._execution = execution
        self._names = following.names
        self._known: dict[str, _Readable] = {}
        self._handed_over = 0
        self.progress: list[list[Round]] = []
        self.passing: list[str] = []

    def query(self, plan: Plan) -> str:
        """Return the query of a whole plan over the rows of its recursions, which are computed first.

        Raises:
            Refused: one does not end, or has columns that are not told apart as Spark does.
            Error: the engine failed, or the run was cancelled.
        """
        wanted = _wanted(plan)
        given: dict[str, str] = {}
        plan = self._placed(plan, _is_recursion, wanted, given)
        return Renderer(self._shown.versioned, wanted, given=given).last_sql(plan)

    def _placed(self, plan: Plan, is_given: Callable[[Plan], bool], wanted: frozenset[str], given: dict[str, str]) -> Plan:
        """Return a plan with what is computed once in the place of some of its parts; ``given`` is told the texts of these."""
        if not is_given(plan):
            return with_inputs(plan, tuple(self._placed(each, is_given, wanted, given) for each in children(plan)))
        if free_identifiers(plan):
            raise Refused(Reason.RECURSION, "beside rows that depend on the row around them")
        given[plan.output[0].identifier] = self._once(plan, wanted)
        return Recurrence(-1 - len(given), plan.output)

    def _once(self, plan: Plan, wanted: frozenset[str]) -> str:
        """Return the text of rows that are computed now."""
        if isinstance(plan, Fixpoint):
            found = self._fixpoint(plan)
            return found.form.read_as(plan.output, found.names)
        given: dict[str, str] = {}
        placed = self._placed(plan, _is_recursion, wanted, given)
        columns = ", ".join(quoted_name(each.identifier) for each in plan.output if each.identifier in wanted) or "1 AS `none`"
        query = Renderer(self._shown, wanted, given=given).sql(placed)
        part = self._keep(f"SELECT {columns} FROM ({query})")
        self.passing.append(part.name)
        return f"(SELECT * FROM {part.name})"

    def _keep(self, query: str) -> _Part:
        if self._execution.token.is_cancelled:
            raise cancelled(self._execution.tag)
        name = next(self._names)
        size = self._kept.keep(name, query)
        self._handed_over += size.bytes if size.is_handed_over else 0
        return _Part(name, size)

    def _noted(self, newest: Iterable[_Part | None]) -> Round:
        """Return what a round was like that has just ended."""
        found = Round(sum(part.size.rows for part in newest if part is not None), self._handed_over)
        self._handed_over = 0
        return found

    def _fixpoint(self, plan: Fixpoint) -> _Readable:
        """Return the first relation of a recursion with all of its rows; one that a query reads twice is computed once."""
        name = signature(plan)
        if name not in self._known:
            state = self._following.followed(name, plan)
            first = self._anew(name, plan) if state is None else _Readable(state.relations[0].form, state.relations[0].names)
            self._known[name] = first
        return self._known[name]

    def _anew(self, name: str, plan: Fixpoint) -> _Readable:
        relations = self._relations(plan)
        self._run(relations)
        own, *others = (relations[each.number] for each in plan.relations)
        kept = [KeptRelation(each.form, each.kinds, each.names, sum(part.size.rows for part in each.parts)) for each in (own, *others)]
        if not self._following.keep(name, plan, kept, len(self.progress[-1])):
            self.passing += own.names
            for part in [part for other in others for part in other.parts]:
                self._kept.drop(part.name)
        return _Readable(own.form, own.names)

    def _relations(self, plan: Fixpoint) -> dict[int, _Relation]:
        """Return the relations of a recursion, without rows, by number; their columns have the types of the first branch that is known."""
        found: dict[int, _Relation] = {}
        for each, first in as_begun(plan):
            bases, steps = tuple(map(self._base, each.bases)), tuple(map(self._step, each.steps))
            begun = next(made for made, own in zip((*bases, *steps), (*each.bases, *each.steps), strict=True) if own is first)
            types = self._types(begun, found)
            kinds = [kind for _, kind in types]
            form = RelationForm(tuple(name for name, _ in types), _certain(plan.best, kinds))
            found[each.number] = _Relation(form, kinds, each.output, bases, steps)
        for each in plan.relations:
            self._check(each, found)
        return found

    def _base(self, plan: Plan) -> _Branch:
        given: dict[str, str] = {}
        return _Branch(self._placed(plan, _is_recursion, _wanted(plan), given), given, ())

    def _step(self, plan: Plan) -> _Branch:
        given: dict[str, str] = {}
        readings = open_recurrences(plan)
        return _Branch(self._placed(plan, _is_computed_once, _wanted(plan), given), given, readings)

    def _types(self, branch: _Branch, relations: Mapping[int, _Relation]) -> list[tuple[str, pa.DataType]]:
        """Return the types of a branch's columns, as SQL and as Arrow name them."""
        none = {each.output[0].identifier: relations[each.number].form.read_as(each.output, ()) for each in branch.readings}
        outputs = ", ".join(quoted_name(each.identifier) for each in branch.plan.output)
        shape = self._session.describe(self._execution.of(f"SELECT {outputs} FROM ({self._text(branch, none)})"))
        return [(column.type_name, kind) for column, kind in zip(shape.columns, shape.schema.types, strict=True)]

    def _check(self, plan: Recursive, relations: Mapping[int, _Relation]) -> None:
        """Raise Refused where branches differ in types, or equal values of a column are not the same."""
        own = relations[plan.number]
        types = [self._types(branch, relations) for branch in (*own.bases, *own.steps)]
        for each in types:
            if [kind for _, kind in each] != own.kinds:
                told = told_types(plan.output, [name.upper() for name in own.form.types], [name.upper() for name, _ in each])
                raise Refused(Reason.RECURSION, told)
        names = {attribute.type_name or "" for each in (*plan.bases, *plan.steps) for attribute in each.output}
        is_char = any(name.startswith("char(") or name in (COLLATED, NESTED_CHAR) for name in names)
        if is_char or any("collate" in name for each in types for name, _ in each):
            raise Refused(Reason.RECURSION, "a column of CHAR or of a collation; CAST it to STRING in the base")

    def _run(self, relations: Mapping[int, _Relation]) -> None:
        """Find all rows of relations."""
        for each in relations.values():
            if each.bases:
                branches = [each.form.branch(self._text(base, {}), base.plan.output) for base in each.bases]
                each.newest = self._keep(each.form.found(branches, (), 0))
        self.progress.append(progress := [])
        while any(each.newest is not None for each in relations.values()):
            progress.append(self._noted(each.newest for each in relations.values()))
            for each in relations.values():
                self._add(each)
            rounds, rows = len(progress), sum(each.rows for each in progress)
            if rows > MOST_ROWS or (rounds > MOST_LEVELS and progress[-1].rows):
                raise EndlessRecursion(Reason.RECURSION, endless(f"it has not ended after {rounds - 1} rounds and {rows} rows"))
            # Each round is made of the rows before it, by all relations alike.
            newest = {number: self._round(each, relations, rounds) for number, each in relations.items()}
            for number, each in relations.items():
                each.newest = newest[number]

    def _add(self, relation: _Relation) -> None:
        """Have the rows of the last round among all others."""
        newest = relation.newest
        if newest is not None and not newest.size.rows:
            self._kept.drop(newest.name)
            relation.newest = newest = None
        if newest is None:
            return
        if len(relation.parts) >= MOST_PARTS:
            largest, *others = sorted(relation.parts, key=lambda part: part.size.rows, reverse=True)
            merged = self._keep(relation.form.merged([part.name for part in others]))
            for part in others:
                self._kept.drop(part.name)
            relation.parts = [largest, merged]
        relation.parts.append(newest)

    def _round(self, relation: _Relation, relations: Mapping[int, _Relation], number: int) -> _Part | None:
        """Return what the steps of a relation make of rows that one of their readings has for the first time, the others having all."""
        branches = []
        for step in relation.steps:
            for first in step.readings:
                newest = relations[first.number].newest
                if newest is None:
                    continue
                read = {each: [newest.name] if each is first else relations[each.number].names for each in step.readings}
                texts = {each.output[0].identifier: relations[each.number].form.read_as(each.output, read[each]) for each in read}
                branches.append(relation.form.branch(self._text(step, texts), step.plan.output))
        is_few = all(each.newest is None or each.newest.size.is_handed_over for each in relations.values())
        return self._found(relation, branches, number, is_few=is_few) if branches else None

    def _found(self, relation: _Relation, branches: Sequence[str], number: int, *, is_few: bool) -> _Part:
        """Return what branches have beyond the known rows of their relation; they are likely to be few where the newest rows are."""
        form, names = relation.form, relation.names
        if not is_few or form.best is not None or sum(part.size.rows for part in relation.parts) < MANY_ROWS:
            return self._keep(form.found(branches, names, number))
        made = self._keep(form.made(branches))
        try:
            if not made.size.is_handed_over:
                return self._keep(form.found([f"SELECT * FROM {made.name}"], names, number))
            return self._keep(form.unknown(made.name, names, number))
        finally:
            self._kept.drop(made.name)

    def _text(self, branch: _Branch, rows: _Texts) -> str:
        return Renderer(self._shown, _wanted(branch.plan), given={**branch.given, **rows}).sql(branch.plan)


def _wanted(plan: Plan) -> frozenset[str]:
    return read_identifiers(plan) | {attribute.identifier for attribute in plan.output}


def _is_recursion(plan: Plan) -> bool:
    return isinstance(plan, Fixpoint)


def _is_computed_once(plan: Plan) -> bool:
    """Say whether a part of a step does more than to filter and join tables, and reads no row of the recursion."""
    return bool(plan.output) and not reads_recursion(plan) and not all(isinstance(each, _PLAIN) for each in every(plan))


_PLAIN = (Scan, Filter, Join, Project, SemiJoin, UnionAll, OneRow)


def _certain(best: Best | None, kinds: Sequence[pa.DataType]) -> Best | None:
    """Return which rows are enough whatever their values are; that no measure is NULL, and none rounded, is noticed in process alone."""
    return None if best is None or best.needs_values or pa.types.is_floating(kinds[best.measure]) else best
