"""What the calculus knows of a subquery q when its sketched occurrences are cut to a set S of fragments; q(S) is its result then.

Source: sketch-safety rules 1.3. S is any superset of the accurate sketch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from imp_driver.plan.nodes import Plan, TopK
from imp_driver.safety.intervals import Interval


class Level(IntEnum):
    """Each level implies the ones below it.

    FREE: nothing below is cut, q(S) = q.
    ALIGNED: each row of q has a finite set of values of the sketched attributes; it is in q(S), unchanged, exactly when all lie in S.
    SUBSET: q(S) is a sub-bag of q, and holds every row whose whole provenance is in S.
    BOUNDED: an injection m of q(S) into q exists under which each column is bounded; rows with their provenance in S map to themselves.
    BARRIER: q(S) = q whenever S covers the provenance of all of q, but nothing is known of less; only the root may stand on it.
    FAIL: nothing is proven.
    """

    FAIL = 0
    BARRIER = 1
    BOUNDED = 2
    SUBSET = 3
    ALIGNED = 4
    FREE = 5


class Bound(Enum):
    """How a column of a row u of q(S) relates to the row m(u) of q. NULL is below everything for AT_MOST, above for AT_LEAST."""

    EQUAL = "exact"
    AT_MOST = "at most that of the whole group"
    AT_LEAST = "at least that of the whole group"
    UNKNOWN = "unknown"

    @property
    def flipped(self) -> Bound:
        return {Bound.AT_MOST: Bound.AT_LEAST, Bound.AT_LEAST: Bound.AT_MOST}.get(self, self)

    def joined(self, other: Bound) -> Bound:
        """Return the bound that holds of a value which moves with both, or is one of both."""
        if self is Bound.EQUAL or self is other:
            return other
        return self if other is Bound.EQUAL else Bound.UNKNOWN


class Refusal(Enum):
    """Why a rule does not apply; the name is the stable code."""

    GROUP_NOT_DETERMINED = "a group may lie in several fragments, and what is asked of it is not monotone"
    BOUNDED_KEY = "a value computed from part of a group is used as a key"
    NOT_UPWARD_CLOSED = "a condition could become true when rows of a group are missing"
    ORDER_NOT_TOTAL = "the order does not decide between all rows"
    ORDER_MAY_MOVE_AHEAD = "a row could move ahead in the order when rows of its group are missing"
    BELOW_A_BARRIER = "something above a top-k drops rows"
    RIGHT_SIDE_CUT = "cutting the right side of a negation could add rows"
    OUTER_SIDE_CUT = "cutting the null-supplying side of an outer join could add rows"
    SUBQUERY_CUT = "the value of a scalar subquery could change"
    WINDOW_NOT_DETERMINED = "a window's partition may lie in several fragments"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a proof rests on beside the query itself.

    Attributes:
        pins: subqueries whose whole output the sketch must cover (rules 1.6).
        facts: facts about the data now, to be checked at capture and on every delta (rules 1.11).
        common: sets of occurrences that must be cut by one common set of fragments (rules 1.7).
        undecided: top-ks whose order may tie; neither the last row nor the last one skipped may tie with the next, which must be
            checked on all rows at each use (rules 1.6).
    """

    pins: tuple[Plan, ...] = ()
    facts: frozenset[str] = frozenset()
    common: frozenset[frozenset[int]] = frozenset()
    undecided: tuple[TopK, ...] = ()

    def __or__(self, other: Needs) -> Needs:
        pins = (*self.pins, *(pin for pin in other.pins if all(pin is not own for own in self.pins)))
        undecided = (*self.undecided, *(top for top in other.undecided if all(top is not own for own in self.undecided)))
        return Needs(pins, self.facts | other.facts, self.common | other.common, undecided)


@dataclass(frozen=True, slots=True)
class Derived:
    """The result of a rule.

    Attributes:
        bounds: bounds of output attributes; one that is missing is EQUAL.
        determined: per cut occurrence the output attributes each of which determines its sketched attribute (only when ALIGNED).
        equal: classes of output attributes that are equal in every row.
        constant: output attributes with one value in all rows.
        intervals: what is known of the values of output attributes in q.
        unique: sets of output attributes that no two rows share.
        note: the rule in words, for people.
    """

    level: Level
    bounds: Mapping[str, Bound] = field(default_factory=dict)
    determined: Mapping[int, frozenset[str]] = field(default_factory=dict)
    equal: tuple[frozenset[str], ...] = ()
    constant: frozenset[str] = frozenset()
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    unique: tuple[frozenset[str], ...] = ()
    needs: Needs = field(default_factory=Needs)
    refusal: Refusal | None = None
    note: str = ""

    def bound(self, identifier: str) -> Bound:
        return self.bounds.get(identifier, Bound.EQUAL)

    def is_exact(self, identifiers: Iterable[str]) -> bool:
        return all(self.bound(each) is Bound.EQUAL for each in identifiers)


def fail(refusal: Refusal, note: str) -> Derived:
    return Derived(Level.FAIL, refusal=refusal, note=note)


def blocked(*inputs: Derived, note: str) -> Derived | None:
    """Return the failure of an operator that must not stand on one of its inputs: nothing is proven of it, or it is a top-k.

    ``note`` is about the top-k; what failed below says why itself.
    """
    failed = next((each for each in inputs if each.level <= Level.BARRIER), None)
    if failed is None:
        return None
    return fail(Refusal.BELOW_A_BARRIER, note) if failed.refusal is None else fail(failed.refusal, failed.note)


def merged_classes(classes: tuple[frozenset[str], ...]) -> tuple[frozenset[str], ...]:
    """Join classes that share an attribute."""
    merged: list[frozenset[str]] = []
    for each in classes:
        touching = [other for other in merged if other & each]
        merged = [other for other in merged if not other & each]
        merged.append(each.union(*touching))
    return tuple(merged)


def closure(attributes: frozenset[str], classes: tuple[frozenset[str], ...]) -> frozenset[str]:
    """Return the attributes with everything equal to one of them."""
    return attributes.union(*(each for each in classes if each & attributes))
