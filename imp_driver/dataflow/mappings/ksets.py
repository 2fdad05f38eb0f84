"""The operators of the algebra on K-sets by their definitions: pairs of solutions, one after the other.

Sources: the counting algorithm for SPARQL, section 3.2; SPARQL 1.1, section 18.5.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from imp_driver.dataflow.mappings.operator import Row, add, add_all, place_of, spreading
from imp_driver.sparql.algebra import Variable


@dataclass(frozen=True, slots=True)
class KSet:
    """Solutions over some variables with counts other than 0, which may be negative."""

    variables: tuple[Variable, ...]
    rows: Mapping[Row, int] = field(default_factory=dict)

    def over(self, variables: Sequence[Variable]) -> KSet:
        """Return the solutions restricted to some variables, counts of equal ones added: projection."""
        spread, found = spreading(self.variables, variables), dict[Row, int]()
        for row, count in self.rows.items():
            add(found, spread(row), count)
        return KSet(tuple(variables), found)


ONE = KSet((), {(): 1})
"""The solution that binds nothing."""


def are_compatible(one: Row, other: Row) -> bool:
    """Say whether two rows of the same variables agree on those that both bind."""
    return all(own is None or its is None or own == its for own, its in zip(one, other, strict=True))


def union(one: KSet, other: KSet) -> KSet:
    variables = _all_variables(one, other)
    found = dict(one.over(variables).rows)
    add_all(found, other.over(variables).rows)
    return KSet(variables, found)


def select(one: KSet, holds: Callable[[Row], bool]) -> KSet:
    return KSet(one.variables, {row: count for row, count in one.rows.items() if holds(row)})


def distinct(one: KSet) -> KSet:
    return KSet(one.variables, dict.fromkeys(one.rows, 1))


def join(one: KSet, other: KSet) -> KSet:
    found: dict[Row, int] = {}
    for _, both, count in _joined(one, other):
        add(found, both, count)
    return KSet(_all_variables(one, other), found)


def diff(one: KSet, other: KSet) -> KSet:
    """Return the solutions with which none of the other side is compatible."""
    return _without(one, other, are_compatible)


def minus(one: KSet, other: KSet) -> KSet:
    """Return the solutions with which none of the other side is compatible that binds a variable that they bind."""

    def removes(key: Row, partner: Row) -> bool:
        return are_compatible(key, partner) and any(a is not None and b is not None for a, b in zip(key, partner, strict=True))

    return _without(one, other, removes)


def left_join(one: KSet, other: KSet, holds: Callable[[Row], bool] | None = None) -> KSet:
    """Return joined solutions for which a condition over both holds, and those of the left side that have none."""
    found, alone = dict[Row, int](), dict(one.rows)
    for row, both, count in _joined(one, other):
        if holds is None or holds(both):
            add(found, both, count)
            alone.pop(row, None)
    variables = _all_variables(one, other)
    add_all(found, KSet(one.variables, alone).over(variables).rows)
    return KSet(variables, found)


def _all_variables(one: KSet, other: KSet) -> tuple[Variable, ...]:
    return tuple(dict.fromkeys((*one.variables, *other.variables)))


def _joined(one: KSet, other: KSet) -> Iterator[tuple[Row, Row, int]]:
    """Yield each left solution with each that is compatible with it, as one solution, and the product of their counts."""
    places, variables = place_of(other.variables), _all_variables(one, other)
    shared = [variable for variable in one.variables if variable in places]
    own, its = spreading(one.variables, shared), spreading(other.variables, shared)
    left, right = spreading(one.variables, variables), spreading(other.variables, variables)
    partners = _by_sure(other, its)
    for row, count in one.rows.items():
        key, wide = own(row), left(row)
        for partner, times in partners(key):
            if are_compatible(key, its(partner)):
                both = zip(wide, right(partner), strict=True)
                yield row, tuple([value if value is not None else its_value for value, its_value in both]), count * times


def _without(one: KSet, other: KSet, removes: Callable[[Row, Row], bool]) -> KSet:
    shared = [variable for variable in one.variables if variable in other.variables]
    own, its = spreading(one.variables, shared), spreading(other.variables, shared)
    partners = dict.fromkeys(map(its, other.rows))
    return select(one, lambda row: not any(removes(own(row), partner) for partner in partners))


def _by_sure(other: KSet, its: Callable[[Row], Row]) -> Callable[[Row], Sequence[tuple[Row, int]]]:
    """Return what finds partners by the shared variables where all bind them, and all that are left where not."""
    found: dict[Row, list[tuple[Row, int]]] = {}
    loose: list[tuple[Row, int]] = []
    for row, count in other.rows.items():
        key = its(row)
        (loose if None in key else found.setdefault(key, [])).append((row, count))
    everything = list(other.rows.items())
    return lambda key: everything if None in key else [*found.get(key, ()), *loose]


def counted(variables: Sequence[Variable], rows: Iterable[Row]) -> KSet:
    """Return the K-set of a list of solutions."""
    return KSet(tuple(variables), Counter(rows))
