"""The recursions of queries, those with rules followed from one reading to the next."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.recursion.followed import Followed
from imp_driver.answer.recursion.program import Forms, Given, Program
from imp_driver.answer.recursion.rounds import RowsOf, by_rounds
from imp_driver.answer.recursion.traced import Base, Traced
from imp_driver.answer.recursion.why import Provenance
from imp_driver.dataflow.recursion.levels import MOST_ROWS, NotOrdered
from imp_driver.parse.moment import NOW, TODAY
from imp_driver.plan.nodes import Fixpoint, Plan, every, scans
from imp_driver.plan.rule_forms import NoRule, RuleForm
from imp_driver.plan.signature import signature
from imp_driver.plan.traceable import is_traced
from imp_driver.reasons import Reason
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.refusal import Refused

MOST_TOGETHER = 2 * MOST_ROWS
"""Rows of all recursions of a warehouse that are kept from one reading to the next."""
_FORMS: BoundedCache[int, tuple[Fixpoint, Forms | None, str]] = BoundedCache(256)
"""Of plans by number; None for one that has no rules."""


class Recursions:
    """Recursive relations of queries under the same settings.

    ``known`` has those that are followed; what else tells them apart are ``settings``. ``names`` are those that a recursion has at each
    reading, by its identity, where values of that reading stand in it (``names_of``).
    """

    def __init__(
        self,
        known: BoundedCache[Hashable, object] | None = None,
        settings: Hashable = None,
        names: Mapping[int, Hashable] = MappingProxyType({}),
    ) -> None:
        self._known = BoundedCache[Hashable, object](1) if known is None else known
        self._settings = settings
        self._names = names
        self._computed: set[int] = set()

    def rows(self, plan: Fixpoint, rows: RowsOf, recurrences: dict[str, pa.Table]) -> pa.Table:
        """Return the rows of a recursive relation.

        Args:
            rows: gives those of any part of the plan; of the relation itself as ``recurrences`` has them.

        Raises:
            NotEvaluable: Spark alone knows a value.
            Refused: there are too many.
        """
        _, forms, name = _FORMS.get(id(plan)) or _formed(plan)
        if forms is None:
            found = by_rounds(plan, rows, recurrences)
            self._computed.add(id(plan))
            return found
        given = [_given(each, rows(each.plan)) for each in forms.given]
        key = self._key(plan, name, given)
        try:
            found = self._followed(key, forms, given).rows(given)
        except NotOrdered as error:
            # All rows are finitely many where what makes better ones is on no cycle.
            try:
                found = self._followed((key, "all"), forms, given, is_best=False).rows(given)
            except Refused as refused:
                raise type(refused)(refused.reason, f"{refused.detail} (a better value follows from a worse one: {error})") from None
        self._known.trim(_weight, MOST_TOGETHER)
        self._computed.add(id(plan))
        return found.rename_columns([attribute.identifier for attribute in plan.output])

    def has_all(self, plan: Plan) -> bool:
        """Say whether every recursion of a plan was computed: what was not stands above them."""
        return all(id(each) in self._computed for each in every(plan) if isinstance(each, Fixpoint))

    def _key(self, plan: Fixpoint, name: str, given: Sequence[pa.Table]) -> Hashable:
        return self._names.get(id(plan), name), self._settings, tuple(tuple(table.schema.types) for table in given)

    def _followed(self, key: Hashable, forms: Forms, given: Sequence[pa.Table], *, is_best: bool = True) -> Followed:
        """Return what follows a recursion, its best rows alone or all of them. Raises NotEvaluable."""
        known = self._known.get(key)
        if isinstance(known, Followed) and known.is_of_use(given):
            return known
        return self._made(key, forms, given, is_best=is_best)

    def _made(self, key: Hashable, forms: Forms, given: Sequence[pa.Table], *, is_best: bool = True) -> Followed:
        """Return what follows a recursion from now on, in the place of what did before."""
        program = Program.of(forms, [table.schema.types for table in given])
        if not is_best:
            program = replace(program, selections={})
        provenance = Provenance(program.rules) if is_traced(forms.plan) else None
        followed = self._known[key] = Followed(program, len(given), len(forms.plan.output), provenance)
        return followed

    def traced(self, plan: Fixpoint, rows: RowsOf) -> Traced:
        """Return what tells why the rows of a traceable recursive relation are there, which is as they are now.

        Raises:
            NotEvaluable: Spark alone knows a value.
            Refused: there are too many rows, or it is not kept why they are there.
        """
        _, forms, name = _FORMS.get(id(plan)) or _formed(plan)
        assert forms is not None
        given = [_given(each, rows(each.plan)) for each in forms.given]
        key = self._key(plan, name, given)
        followed = self._followed(key, forms, given)
        if followed.may_be_told_again(given):
            followed = self._made(key, forms, given)
        if not plan.is_traced:
            raise Refused(Reason.RECURSION, "why rows are there is kept of views WITH PROVENANCE (CREATE OR REPLACE INCREMENTAL VIEW v ..)")
        if plan.best is not None and not followed.tells_best:
            raise Refused(Reason.RECURSION, "the best rows follow from others where values are rounded")
        try:
            found = followed.rows(given)
        except NotOrdered as error:
            raise Refused(Reason.RECURSION, f"a better value follows from a worse one: {error}") from None
        if followed.provenance is not None and followed.provenance.lost:
            raise Refused(Reason.RECURSION, followed.provenance.lost)
        bases = [_base(each, table) for each, table in zip(forms.given, given, strict=True)]
        return Traced(found, followed.why, len(forms.plan.relations), bases)


def _weight(known: object) -> int:
    return known.count if isinstance(known, Followed) else 0


def names_of(plan: Plan, bound: Plan, values: Hashable) -> dict[int, Hashable]:
    """Name the recursions of a plan with values for its markers, the same at each reading with the same ``values``.

    The day and the time are none of these, where they decide only what a recursion is given, of which the changes are followed.
    """
    found: dict[int, Hashable] = {}
    pairs = zip(*([each for each in every(part) if isinstance(each, Fixpoint)] for part in (plan, bound)), strict=True)
    for marked, own in pairs:
        _, forms, name = _FORMS.get(id(marked)) or _formed(marked)
        if marked is not own and forms is not None and not any(_has_moment(rule) for rule in forms.rules):
            found[id(own)] = name, values
    return found


def _has_moment(rule: RuleForm) -> bool:
    return any(marker.name in (NOW, TODAY) for each in (*rule.conjuncts, *rule.values) for marker in each.find_all(exp.Placeholder))


def _formed(plan: Fixpoint) -> tuple[Fixpoint, Forms | None, str]:
    found: tuple[Fixpoint, Forms | None, str]
    try:
        found = plan, Forms.of(plan), signature(plan)
    except NoRule:
        found = plan, None, ""
    # The plan stands beside, so that its number is no other's.
    _FORMS[id(plan)] = found
    return found


def _base(given: Given, rows: pa.Table) -> Base:
    names = [given.plan.output[place].name for place in given.places]
    tables = dict.fromkeys(".".join(scan.table) for scan in scans(given.plan))
    return Base(" and ".join(tables), tuple(names), tuple(rows.schema.types))


def _given(given: Given, rows: pa.Table) -> pa.Table:
    """Return the columns of given rows that are read."""
    return rows.select([given.plan.output[place].identifier for place in given.places])
