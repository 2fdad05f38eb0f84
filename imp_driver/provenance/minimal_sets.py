"""The minimal sets of variables that make a monotone function true (its prime implicants), one after the other, smallest first.

Of all sets that make a monotone function true, one with the fewest elements is minimal, and it is found by the shortest way through the
diagram, where only a variable that is true costs something. What is left then is the function without the sets that contain the one found:
it is no longer monotone, but with each set it has all subsets that the function has, and so its smallest is minimal too. Each step is
linear in the nodes that are new in what is left.
"""

from __future__ import annotations

from collections.abc import Iterator

from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.library import Function

_NEVER = 1 << 60
"""Elements of the smallest set that makes false true."""


def minimal_sets(diagrams: Diagrams, function: Function) -> Iterator[frozenset[int]]:
    """Yield each minimal set once, in the order of their sizes; the empty set alone for true, none for false.

    Raises TooManyNodes where what is left becomes too large.
    """
    sizes = {diagrams.false: _NEVER, diagrams.true: 0}
    left = function
    while not diagrams.is_false(left):
        diagrams.fold(left, sizes, lambda _, low, high: min(low, high + 1))
        found = _smallest(diagrams, left, sizes)
        yield found
        left = diagrams.minus(left, diagrams.all_of(sorted(found, reverse=True)))
        diagrams.keep_within_limit(left)


def _smallest(diagrams: Diagrams, function: Function, sizes: dict[Function, int]) -> frozenset[int]:
    """Return the variables that are true on a shortest way to true."""
    found = []
    while function != diagrams.true:
        variable, low, high = diagrams.branches(function)
        if sizes[low] <= sizes[high] + 1:
            function = low
        else:
            found.append(variable)
            function = high
    return frozenset(found)
