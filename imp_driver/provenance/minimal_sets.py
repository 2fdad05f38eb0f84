"""The minimal sets of variables that make a monotone function true (its prime implicants), one after the other, smallest first.

The diagram is walked from its root: a variable is in the set or not. A partial choice leaves a function F of the variables below, and a
function G of what F would be if any one of the chosen variables were not. A set is minimal if it makes F true and G false. Both are
monotone and G implies F, so that there is a minimal set below a choice exactly if F and G differ, which takes no look below: no way of
the walk is in vain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.library import Function

_NEVER = 1 << 60
"""Elements of the smallest set that makes false true."""


@dataclass(frozen=True, slots=True, order=True)
class _Choice:
    """A partial choice, in the order in which they are followed.

    Attributes:
        size: no set below has fewer elements.
        turn: later ones come first where sizes are equal, so that a set is soon complete.
        chosen: variables that are in the set.
        left, spared: F and G.
    """

    size: int
    turn: int
    chosen: tuple[int, ...] = field(compare=False)
    left: Function = field(compare=False)
    spared: Function = field(compare=False)


def minimal_sets(diagrams: Diagrams, function: Function) -> Iterator[frozenset[int]]:
    """Yield each minimal set once, in the order of their sizes; the empty set alone for true, none for false.

    Raises TooManyNodes where the functions of all choices that are open become too large.
    """
    sizes = {diagrams.false: _NEVER, diagrams.true: 0}
    open_choices: list[_Choice] = []
    turn = 0

    def add(chosen: tuple[int, ...], left: Function, spared: Function) -> None:
        nonlocal turn
        if left != spared:
            turn -= 1
            heappush(open_choices, _Choice(len(chosen) + sizes[left], turn, chosen, left, spared))

    diagrams.fold(function, sizes, lambda _, low, high: min(low, high + 1))
    add((), function, diagrams.false)
    while open_choices:
        choice = heappop(open_choices)
        if choice.left == diagrams.true:
            yield frozenset(choice.chosen)
            continue
        variable, low, high = diagrams.branches(choice.left)
        spared_low, spared_high = _at(diagrams, choice.spared, choice.left)
        add(choice.chosen, low, spared_low)
        without = diagrams.or_(spared_high, low)
        diagrams.keep_within_limit(without)
        add((*choice.chosen, variable), high, without)


def _at(diagrams: Diagrams, function: Function, other: Function) -> tuple[Function, Function]:
    """Return the branches of a function at the first variable of another one, with those before it false, on which that does not depend."""
    while not diagrams.is_constant(function) and function.level < other.level:
        _, function, _ = diagrams.branches(function)
    if diagrams.is_constant(function) or function.level > other.level:
        return function, function
    return diagrams.branches(function)[1:]
