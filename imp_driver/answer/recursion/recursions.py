"""The recursions of queries, those with rules followed from one reading to the next."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import pyarrow as pa

from imp_driver.answer.recursion.followed import Followed
from imp_driver.answer.recursion.program import Forms, Given, Program
from imp_driver.answer.recursion.rounds import RowsOf, by_rounds
from imp_driver.dataflow.recursion.levels import NotOrdered
from imp_driver.plan.nodes import Fixpoint
from imp_driver.plan.rule_forms import NoRule
from imp_driver.plan.signature import signature
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.refusal import Refused

_FORMS: BoundedCache[int, tuple[Fixpoint, Forms | None, str]] = BoundedCache(256)
"""Of plans by number; None for one that has no rules."""


class Recursions:
    """Recursive relations of queries under the same settings.

    ``known`` has those that are followed; what else tells them apart are ``settings``.
    """

    def __init__(self, known: BoundedCache[Hashable, object] | None = None, settings: Hashable = None) -> None:
        self._known = BoundedCache[Hashable, object](1) if known is None else known
        self._settings = settings

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
            return by_rounds(plan, rows, recurrences)
        given = [_given(each, rows(each.plan)) for each in forms.given]
        key = (name, self._settings, tuple(tuple(table.schema.types) for table in given))
        try:
            found = self._followed(key, forms, given).rows(given)
        except NotOrdered as error:
            # All rows are finitely many where what makes better ones is on no cycle.
            try:
                found = self._followed((key, "all"), forms, given, is_best=False).rows(given)
            except Refused as refused:
                raise type(refused)(refused.reason, f"{refused.detail} (a better value follows from a worse one: {error})") from None
        return found.rename_columns([attribute.identifier for attribute in plan.output])

    def _followed(self, key: Hashable, forms: Forms, given: Sequence[pa.Table], *, is_best: bool = True) -> Followed:
        """Return what follows a recursion, its best rows alone or all of them. Raises NotEvaluable."""
        known = self._known.get(key)
        if isinstance(known, Followed) and not known.is_lost:
            return known
        program = Program.of(forms, [table.schema.types for table in given])
        followed = self._known[key] = Followed(program if is_best else replace(program, selections={}), len(given), len(forms.plan.output))
        return followed


def _formed(plan: Fixpoint) -> tuple[Fixpoint, Forms | None, str]:
    found: tuple[Fixpoint, Forms | None, str]
    try:
        found = plan, Forms.of(plan), signature(plan)
    except NoRule:
        found = plan, None, ""
    # The plan stands beside, so that its number is no other's.
    _FORMS[id(plan)] = found
    return found


def _given(given: Given, rows: pa.Table) -> pa.Table:
    """Return the columns of given rows that are read."""
    return rows.select([given.plan.output[place].identifier for place in given.places])
