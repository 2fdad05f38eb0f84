"""Random changes of recursions that are kept elsewhere, each followed and compared with the same recursion in process."""

from __future__ import annotations

from random import Random

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.levels import Levels, RowChanges
from tests.operators.kept_elsewhere import KeptElsewhere
from tests.operators.recursion_rules import (
    LINK,
    POINT,
    from_points,
    from_the_left,
    linear,
    mutual,
    non_linear,
    on_cycles,
    same_generation,
    several,
    with_classes,
)

PROGRAMS = (linear, from_the_left, non_linear, several, mutual, on_cycles, same_generation, from_points, with_classes)
_STREAMS, _STEPS, _NODES = 40, 8, 5


def differs(seed: int) -> bool:
    """Say whether, after some step of a stream, rows or levels are not those in process; an error is a difference too."""
    chance = Random(seed)
    rules = chance.choice(PROGRAMS)()
    levels, elsewhere = Levels(rules), KeptElsewhere(rules)
    read = {number for rule in rules for number in rule.reads}
    for _ in range(_STEPS):
        removed, added = ({number: _some(chance, number) for number in (LINK, POINT) if number in read} for _ in range(2))
        levels.apply({number: RowChanges(removed[number], added[number]) for number in removed})
        try:
            elsewhere.change(removed, added)
        except (KeyError, TypeError):
            return True
        expected = {(rule.head, row): levels.level(rule.head, row) for rule in rules for row in levels.rows(rule.head)}
        if elsewhere.kept != expected:
            return True
    return False


def are_different() -> bool:
    """Say whether any stream differs."""
    return any(map(differs, range(_STREAMS * len(PROGRAMS))))


def _some(chance: Random, number: int) -> set[Row]:
    width = 2 if number == LINK else 1
    return {tuple(chance.randrange(_NODES) for _ in range(width)) for _ in range(chance.randrange(6 if number == LINK else 3))}
