"""Whether a state that was captured under other row conditions serves a block, and which of its conditions on groups it may be asked
(sketch-reuse rules 2.2; the state holds every group of the old row conditions, so the old HAVING does not matter).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.plan.attributes import column_named, identifiers, plain_identifier
from imp_driver.reuse.decide import EQUAL, BlockConditions, Conjuncts, groups_are_whole, implications, rows_are_contained
from imp_driver.safety.levels import Bound

_WRAPPERS = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)


@dataclass(frozen=True, slots=True)
class Service:
    """What a state says of a block.

    Attributes:
        is_exact: where the block has one of its groups, it holds the rows of that, no others: all conditions may be asked.
        has_same_groups: all of its groups that pass the conditions are the block's too: the order may be asked.
        conditions: indexes of the conditions on groups that are true of the state's groups where they are true of the block's.
        is_by_solver: the cheap tests alone did not show it.
    """

    is_exact: bool
    has_same_groups: bool
    conditions: frozenset[int]
    is_by_solver: bool


def service(
    rows: Conjuncts, groups: Conjuncts, old_rows: Conjuncts, keys: frozenset[str], types: Mapping[str, str | None], *, with_solver: bool
) -> Service | None:
    """Say how a state with row conditions ``old_rows`` serves a block with ``rows`` and conditions ``groups`` above; None when it does not.

    Args:
        groups: row conditions on keys among them are asked of the groups instead; those that are not, the state may have ignored.
        keys: columns that are group keys; row conditions on these alone choose groups, others choose rows within groups.
        types: Delta type names of columns.
    """
    new, old = (BlockConditions(*_split(each, keys)) for each in (rows, old_rows))
    aggregates = _Aggregates(types)
    conditions = tuple(map(aggregates.lifted, groups))
    tests = implications({**types, **aggregates.types})
    for is_by_solver, implied in enumerate(tests[: 1 + with_solver]):
        if rows_are_contained(new, old, implied):
            is_exact = groups_are_whole(new, old, implied)
            relation = EQUAL if is_exact else aggregates.relations
            kept = (place for place, each in enumerate(conditions) if is_exact or implied((*new.keys, each), (each,), relation))
            asked = tuple(each for each in new.keys if each in groups)
            unasked = tuple(each for each in new.keys if each not in groups)
            has_same_groups = is_exact and implied((*old.rows, *old.keys, *asked), unasked, EQUAL)
            return Service(is_exact, has_same_groups, frozenset(kept), bool(is_by_solver))
    return None


def _split(rows: Conjuncts, keys: frozenset[str]) -> tuple[Conjuncts, Conjuncts]:
    def is_about_keys(each: exp.Expr) -> bool:
        return bool(identifiers(each)) and identifiers(each) <= keys

    return tuple(each for each in rows if not is_about_keys(each)), tuple(each for each in rows if is_about_keys(each))


class _Aggregates:
    """Replaces aggregates by columns, with what relates the value of part of a group to that of the whole."""

    def __init__(self, types: Mapping[str, str | None]) -> None:
        self._columns = types
        self.relations: dict[str, Bound] = {}
        self.types: dict[str, str | None] = {}

    def lifted(self, condition: exp.Expr) -> exp.Expr:
        if isinstance(condition, (exp.AggFunc, *_WRAPPERS)):
            return self._column(condition)
        copy = condition.copy()
        for node in list(copy.find_all(exp.AggFunc, *_WRAPPERS)):
            if node.find_ancestor(exp.AggFunc, *_WRAPPERS) is None:
                node.replace(self._column(node))
        return copy

    def _column(self, function: exp.Expr) -> exp.Expr:
        name = f"#{function.sql(dialect='spark')}"
        kinds = ((exp.Count, Bound.AT_MOST), (exp.Max, Bound.AT_MOST), (exp.Min, Bound.AT_LEAST))
        self.relations[name] = next((bound for kind, bound in kinds if isinstance(function, kind)), Bound.UNKNOWN)
        self.types[name] = self._type(function)
        return column_named(name)

    def _type(self, function: exp.Expr) -> str | None:
        if isinstance(function, (exp.Min, exp.Max)) and isinstance(function.this, exp.Expr):
            return self._columns.get(plain_identifier(function.this) or "")
        return "long" if isinstance(function, exp.Count) else None
