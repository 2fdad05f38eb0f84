"""Recursions whose heads are copies of columns, and their rows by plain rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TypeAlias

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.rules import Place, Rule, copied

LINK, REACH, OTHER, POINT = 0, 1, 2, 3
MEET = ((Place(0, 1), Place(1, 0)),)
BASE = Rule(REACH, (LINK,), (2,), (), copied([0, 1]))


def linear() -> list[Rule]:
    return [BASE, Rule(REACH, (LINK, REACH), (2, 2), MEET, copied([0, 3]))]


def from_the_left() -> list[Rule]:
    return [BASE, Rule(REACH, (REACH, LINK), (2, 2), MEET, copied([0, 3]))]


def non_linear() -> list[Rule]:
    return [BASE, Rule(REACH, (REACH, REACH), (2, 2), MEET, copied([0, 3]))]


def several() -> list[Rule]:
    """Links from both sides, and each way back as well."""
    back = Rule(REACH, (REACH,), (2,), (), copied([1, 0]))
    return [*linear(), Rule(REACH, (REACH, LINK), (2, 2), MEET, copied([0, 3])), back]


def mutual() -> list[Rule]:
    """REACH by an odd number of links, OTHER by an even one."""
    return [
        BASE,
        Rule(OTHER, (REACH, LINK), (2, 2), MEET, copied([0, 3])),
        Rule(REACH, (OTHER, LINK), (2, 2), MEET, copied([0, 3])),
    ]


def on_cycles() -> list[Rule]:
    """OTHER has the nodes that reach themselves, and those that have links to these."""
    return [
        *linear(),
        Rule(OTHER, (REACH,), (2,), ((Place(0, 0), Place(0, 1)),), copied([0])),
        Rule(OTHER, (LINK, OTHER), (2, 1), ((Place(0, 1), Place(1, 0)),), copied([0])),
    ]


def same_generation() -> list[Rule]:
    """Nodes that the same number of links leads to from one node."""
    above, below = ((Place(0, 0), Place(1, 0)),), ((Place(0, 1), Place(1, 0)),)
    return [
        Rule(REACH, (LINK, LINK), (2, 2), above, copied([1, 3])),
        Rule(OTHER, (LINK, REACH), (2, 2), above, copied([1, 3])),
        Rule(REACH, (OTHER, LINK), (2, 2), below, copied([0, 3])),
    ]


def from_points() -> list[Rule]:
    """REACH has the nodes that points lead to; OTHER has heads with a column twice, and rows of which a column is not known by the head."""
    return [
        Rule(REACH, (POINT,), (1,), (), copied([0])),
        Rule(REACH, (REACH, LINK), (1, 2), ((Place(0, 0), Place(1, 0)),), copied([2])),
        Rule(OTHER, (REACH, REACH), (1, 1), ((Place(0, 0), Place(1, 0)),), copied([0, 0])),
        Rule(OTHER, (OTHER, OTHER), (2, 2), MEET, copied([3, 3])),
        Rule(OTHER, (LINK, OTHER), (2, 2), MEET, copied([1, 2])),
    ]


def with_classes() -> list[Rule]:
    """Rows that meet in several columns, of which some are equal to each other."""
    loops = ((Place(0, 0), Place(1, 0)), (Place(0, 1), Place(1, 0)))
    return [
        BASE,
        Rule(OTHER, (REACH, LINK), (2, 2), loops, copied([0, 1, 3])),
        Rule(OTHER, (OTHER, REACH), (3, 2), ((Place(0, 2), Place(1, 0)), (Place(0, 0), Place(1, 1))), copied([4, 3, 2])),
        Rule(OTHER, (LINK, OTHER), (2, 3), ((Place(0, 0), Place(1, 1)), (Place(0, 1), Place(1, 2))), copied([0, 3, 0])),
    ]


def of_two_kinds() -> list[Rule]:
    """REACH as ever; OTHER goes along it in steps that are no shorter the longer they are, and has its ends the other way round."""
    return [
        *linear(),
        Rule(OTHER, (LINK,), (2,), (), copied([0, 1])),
        Rule(OTHER, (REACH, OTHER), (2, 2), ((Place(0, 1), Place(1, 1)),), copied([2, 0])),
    ]


RULES = [linear, from_the_left, non_linear, several, mutual, on_cycles, same_generation, from_points, with_classes, of_two_kinds]
Rules: TypeAlias = Callable[[], list[Rule]]


def by_rounds(rules: Sequence[Rule], given_rows: Mapping[int, set[Row]]) -> dict[int, dict[Row, int]]:
    """Return all rows, each with the round in which it is derived first."""
    found: dict[int, dict[Row, int]] = {rule.head: {} for rule in rules}
    level = 0
    while True:
        more: list[tuple[int, Row]] = []
        for rule in rules:
            for body in product(*(list(found.get(read, given_rows.get(read, ()))) for read in rule.reads)):
                sides = [[body[place.read][place.column] for place in equality] for equality in rule.equalities]
                if all(one is not None and one == other for one, other in sides):
                    (head,) = rule.heads([tuple(value for row in body for value in row)])
                    assert head is not None
                    more.append((rule.head, head))
        more = [(relation, row) for relation, row in more if row not in found[relation]]
        if not more:
            return found
        for relation, row in more:
            found[relation][row] = level
        level += 1
