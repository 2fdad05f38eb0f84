"""Which merges may be computed from some of the groups at a time: those of one range of a key, beside what all others add up to.

A row around meets the groups of another range either all or none where it compares nothing with their key but the key of its own range:
``c.price <= b.price`` is true of every group below the range that ``b.price`` lies in. So these stand for one another but for their other
keys, and their sums are what a subquery needs of them (block sums of the RPAI paper, section 2.2, with a range for a block).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.plan.attributes import identifiers, plain_identifier
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.nested import Decided, decided_by
from imp_driver.plan.nodes import Aggregate, Merge, Plan, Scalar, children, every, scans
from imp_driver.values.bounded_cache import BoundedCache

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_KNOWN: BoundedCache[int, tuple[Plan, tuple[Slicing, ...]]] = BoundedCache(500)
"""By the ``id`` of a plan, which is held so that no other one has it."""


@dataclass(frozen=True, slots=True, eq=False)
class Slicing:
    """How a merge is computed from ranges of a key.

    Attributes:
        outer: the groups that it merges, cut by the ``key``-th of their keys.
        inner: by the names of groups that its subqueries read, the places of keys by which these may be cut too; True where a range needs
            the others' sums, False where its rows meet no group of another range.
    """

    merge: Merge
    outer: Aggregate
    key: int
    inner: Mapping[str, Mapping[int, bool]]

    @property
    def name(self) -> str:
        """What the merge is called by."""
        return self.merge.copies.identifier


def slicings(plan: Plan) -> tuple[Slicing, ...]:
    """Return how each merge of a plan that stands in no subquery may be computed, those that may."""
    known = _KNOWN.get(id(plan))
    if known is None or known[0] is not plan:
        known = _KNOWN[id(plan)] = plan, tuple(filter(None, map(_slicing, _merges(plan))))
    return known[1]


def slice_key(plan: Plan, aggregate: Aggregate) -> int | None:
    """Return by which of their keys groups of a plan are best cut; None where by none."""
    for each in slicings(plan):
        if each.outer is aggregate:
            return each.key
        places = each.inner.get(aggregate.name)
        if places:
            return min(places, key=lambda place: places[place])
    return None


def _merges(plan: Plan) -> Iterator[Merge]:
    if isinstance(plan, Merge):
        yield plan
    else:
        for each in (plan.child,) if isinstance(plan, Scalar) else children(plan):
            yield from _merges(each)


def _slicing(merge: Merge) -> Slicing | None:
    decided = decided_by(merge)
    outer = decided.rows
    if not isinstance(outer, Aggregate) or not outer.is_finer or not outer.key_attributes:
        return None
    inner = tuple(_inner(decided))
    tables = {each.table for each in scans(outer)}
    found = []
    for place, attribute in enumerate(outer.key_attributes):
        cut = {each.groups.name: _cut(each, attribute.identifier) for each in inner}
        # Other groups of the same tables are about as many.
        if all(cut[each.groups.name] or tables.isdisjoint(scan.table for scan in scans(each.groups)) for each in inner):
            found.append((place, cut))
    if not found:
        return None
    # Best where most groups are cut, then where ranges need no other.
    place, cut = min(found, key=lambda each: sum(2 if not own else all(own.values()) for own in each[1].values()))
    return Slicing(merge, outer, place, cut)


@dataclass(frozen=True, slots=True, eq=False)
class _Inner:
    """Groups that a subquery merges."""

    groups: Aggregate
    decided: Decided
    merge: Merge


def _inner(decided: Decided) -> Iterator[_Inner]:
    for scalar in decided.scalars.values():
        for merge in every(scalar.subquery):
            own = decided_by(merge) if isinstance(merge, Merge) else None
            if own is not None and isinstance(merge, Merge) and isinstance(own.rows, Aggregate):
                yield _Inner(own.rows, own, merge)


def _cut(inner: _Inner, around: str) -> dict[int, bool]:
    """Return by which keys the groups of a subquery may be cut where the rows around are cut by ``around``, as ``Slicing.inner`` does."""
    if inner.merge.keys or not inner.groups.is_finer:
        return {}
    found = {}
    for place, attribute in enumerate(inner.groups.key_attributes):
        own = attribute.identifier
        compared = [each for each in inner.decided.where if _compares(each, own, around)]
        if any(isinstance(each.unnest(), exp.EQ) for each in compared):
            found[place] = False
        elif all(map(_adds_up, inner.groups.functions)) and not _is_read(own, inner, compared):
            found[place] = True
    return found


def _compares(conjunct: exp.Expr, own: str, around: str) -> bool:
    node = conjunct.unnest()
    if not isinstance(node, _COMPARISONS):
        return False
    return {plain_identifier(node.this), plain_identifier(node.expression)} == {own, around}


def _adds_up(function: exp.Expr) -> bool:
    """Say whether an aggregate of ranges together is one of their sums."""
    node = function.this if isinstance(function, exp.Filter) else function
    return isinstance(node, (exp.Sum, exp.Count, exp.Avg)) and not isinstance(node.this, exp.Distinct)


def _is_read(own: str, inner: _Inner, compared: list[exp.Expr]) -> bool:
    """Say whether a key is read by anything but some comparisons."""
    expressions = (*(each for each in inner.decided.where if each not in compared), *inner.merge.functions)
    below = (free_identifiers(scalar.subquery) for scalar in inner.decided.scalars.values())
    return any(own in identifiers(each) for each in expressions) or any(own in each for each in below)
