"""The three queries of section 2 of the paper as plans of distributed recursions, and what follows from their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import dist
from typing import Any

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.fixpoint import BASE, RECURSIVE, Fixpoint, Passing
from imp_driver.provenance.join import LEFT, RIGHT, PipelinedHashJoin
from imp_driver.provenance.plan import VIEW, BaseRelation, Plan, Stage, Target
from imp_driver.provenance.selection import Aggregate, AggregateSelection, Selecting
from imp_driver.provenance.windows import Window

COST, LENGTH = 3, 4
"""Columns of paths: source, destination, vector, cost, length."""


def reachable(passing: Passing = Passing.DIFFERENCE, window: Callable[[], Window] | None = None) -> Plan:
    """Query 1: ``link(src, dst)`` -> pairs where the first reaches the second (figure 4).

    Args:
        window: makes for each node what says which links expire, of those that lead there.
    """

    def join(diagrams: Diagrams) -> PipelinedHashJoin:
        return PipelinedHashJoin(diagrams, ((1,), (0,)), lambda link, reached: (link[0], reached[1]), (window() if window else None, None))

    return Plan(
        relations={"link": BaseRelation((Target(VIEW, BASE), Target("join", LEFT, column=1)))},
        stages={"join": Stage(join, (Target(VIEW, RECURSIVE, column=0),))},
        fixpoint=lambda diagrams: Fixpoint(diagrams, passing),
        targets=(Target("join", RIGHT),),
    )


def path(aggregates: tuple[Aggregate, ...], passing: Passing = Passing.DIFFERENCE) -> Plan:
    """Query 2: ``link(src, dst, cost)`` -> paths (src, dst, nodes, cost, length) that are best of their pair for some aggregate.

    Without aggregates these are all paths, which are infinitely many where there is a cycle. Costs are above 0.
    """

    def select(diagrams: Diagrams) -> AggregateSelection:
        return AggregateSelection(diagrams, (0, 1), aggregates)

    selecting: Selecting | None = select if aggregates else None

    def join(diagrams: Diagrams) -> PipelinedHashJoin:
        return PipelinedHashJoin(diagrams, ((1,), (0,)), _longer)

    return Plan(
        relations={"link": BaseRelation((Target(VIEW, BASE, made=_path_of_one_link), Target("join", LEFT, column=1)))},
        stages={"join": Stage(join, (Target(VIEW, RECURSIVE, column=0, selecting=selecting),))},
        fixpoint=lambda diagrams: Fixpoint(diagrams, passing, selecting),
        targets=(Target("join", RIGHT),),
    )


def active_region(passing: Passing = Passing.DIFFERENCE) -> Plan:
    """Query 3: ``main(region, sensor)``, ``triggered(sensor)`` and ``near(sensor, sensor)`` -> pairs of a region and a sensor in it.

    A region has the sensors near its triggered ones, triggered or not. All rows live where their sensor belongs, so that the recursion
    joins without shipping; ``near`` holds for certain.
    """

    def seeds(diagrams: Diagrams) -> PipelinedHashJoin:
        return PipelinedHashJoin(diagrams, ((1,), (0,)), lambda main, _: main)

    def spreads(diagrams: Diagrams) -> PipelinedHashJoin:
        return PipelinedHashJoin(diagrams, ((0,), (0,)), lambda near, _: near)

    def grows(diagrams: Diagrams) -> PipelinedHashJoin:
        return PipelinedHashJoin(diagrams, ((0,), (1,)), lambda near, active: (active[0], near[1]))

    return Plan(
        relations={
            "main": BaseRelation((Target("seeds", LEFT, column=1),)),
            "triggered": BaseRelation((Target("seeds", RIGHT), Target("spreads", RIGHT))),
            "near": BaseRelation((Target("spreads", LEFT),), is_certain=True),
        },
        stages={
            "seeds": Stage(seeds, (Target(VIEW, BASE),)),
            "spreads": Stage(spreads, (Target("grows", LEFT),)),
            "grows": Stage(grows, (Target(VIEW, RECURSIVE, column=1),)),
        },
        fixpoint=lambda diagrams: Fixpoint(diagrams, passing),
        targets=(Target("grows", RIGHT),),
    )


def near(positions: Mapping[object, tuple[float, float]], within: float) -> list[Row]:
    """Return the pairs of different sensors less than some length apart."""
    return [(one, other) for one in positions for other in positions if one != other and dist(positions[one], positions[other]) < within]


def best(paths: Iterable[Row], column: int) -> list[Row]:
    """Return, of each pair of source and destination, the paths with the least value: cheapestPath and fewestHops."""
    least: dict[Row, Any] = {}
    listed = list(paths)
    for row in listed:
        value: Any = row[column]
        least[row[:2]] = min(least.get(row[:2], value), value)
    return [row for row in listed if row[column] == least[row[:2]]]


def shortest_cheapest(paths: Iterable[Row]) -> list[Row]:
    """Return shortestCheapestPath: (src, dst, nodes of a cheapest path, its cost, nodes of a path with fewest hops, its length)."""
    listed = list(paths)
    fewest: dict[Row, list[Row]] = {}
    for row in best(listed, LENGTH):
        fewest.setdefault(row[:2], []).append(row)
    return [(*one[:4], other[2], other[LENGTH]) for one in best(listed, COST) for other in fewest[one[:2]]]


def largest_regions(rows: Iterable[Row]) -> list[object]:
    """Return the regions that have the most sensors."""
    sizes = Counter(row[0] for row in rows)
    return [region for region, size in sizes.items() if size == max(sizes.values())]


def _path_of_one_link(link: Row) -> Row:
    return (link[0], link[1], (link[0], link[1]), link[2], 1)


def _longer(link: Row, known: Row) -> Row:
    nodes: Any = known[2]
    one: Any = link[2]
    cost: Any = known[COST]
    length: Any = known[LENGTH]
    return (link[0], known[1], (link[0], *nodes), one + cost, length + 1)
