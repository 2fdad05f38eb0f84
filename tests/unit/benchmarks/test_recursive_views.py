"""Every other way to maintain a recursive view gives the rows of a plain closure, whatever comes and goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from random import Random

import numpy as np
import pytest

from benchmarks.recursion import sensors
from benchmarks.recursion.costs import Costs, CostsByDRed, CostsFromScratch
from benchmarks.recursion.dred import DRed, DRedOfSets
from benchmarks.recursion.maintained import Row, fingerprint
from benchmarks.recursion.recompute import Recompute
from benchmarks.recursion.relative import Relative
from benchmarks.recursion.set_at_a_time import SetAtATime
from benchmarks.recursion.spreading import REACHABLE, Spreading, regions

MAKERS: dict[str, Callable[..., Spreading]] = {
    "DRed": DRed,
    "DRed by sets": DRedOfSets,
    "recomputed": Recompute,
    "relative eager": Relative,
    "relative lazy": partial(Relative, is_lazy=True),
}
LINKS = [(0, 1), (1, 2), (2, 0), (2, 1)]
"""Figure 3 of the paper: A, B, C are 0, 1, 2."""


def closure(links: set[Row]) -> set[Row]:
    """Return the pairs that links connect, round by round until nothing is new."""
    pairs: set[Row] = set(links)
    while True:
        longer = {(source, target) for source, middle in links for start, target in pairs if start == middle}
        if longer <= pairs:
            return pairs
        pairs |= longer


def changes(chance: Random, base: Counter[Row], draw: Callable[[], Row]) -> Iterator[tuple[list[Row], list[Row]]]:
    """Yield changes and make them in ``base``: several copies, rows that go and come at once, nothing at all."""
    for _ in range(60):
        inserted = [draw() for _ in range(chance.choice([0, 0, 1, 1, 2, 6]))]
        there = list(base.elements())
        deleted = chance.sample(there, min(len(there), chance.choice([0, 1, 1, 2, 5])))
        if chance.random() < 0.2 and there:
            both = chance.choice(there)
            inserted.append(both)
            deleted = deleted if both in deleted else [*deleted, both]
        base.update(inserted)
        base.subtract(deleted)
        yield deleted, inserted


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("seed", range(6))
def test_reachable_is_the_plain_closure(name: str, seed: int) -> None:
    chance = Random(seed)
    nodes = chance.choice([3, 5, 8])

    def draw() -> Row:
        return chance.randrange(nodes), chance.randrange(nodes)

    base = Counter(draw() for _ in range(nodes * 2))
    view = MAKERS[name](REACHABLE, partitions=chance.choice([1, 3, 12]))
    view.load(list(base.elements()))
    for deleted, inserted in changes(chance, base, draw):
        view.apply(deleted, inserted)
        assert sorted(view.rows()) == sorted(closure(set(+base)))
    assert view.touched > 0


@pytest.mark.parametrize("name", MAKERS)
def test_regions_are_those_of_the_query_as_it_is_written(name: str) -> None:
    chance = Random(3)
    field = sensors.field(spacing=20)
    near = {one: set(others) for one, others in sensors.field(spacing=20).near().items()}
    view = MAKERS[name](regions(field), partitions=4)
    base: Counter[Row] = Counter(field.triggered)
    view.load(field.triggered)
    sensor_numbers = list(field.sensor)
    for deleted, inserted in changes(chance, base, lambda: (chance.choice(sensor_numbers),)):
        view.apply(deleted, inserted)
        triggered = {sensor for (sensor,) in +base}
        active = {(region, sensor) for region, sensor in field.mains if sensor in triggered}
        while longer := {(region, two) for region, one in active if one in triggered for two in near[one]} - active:
            active |= longer
        assert sorted(view.rows()) == sorted(active)


def test_plain_execution_follows_inserts_alone() -> None:
    chance = Random(1)
    links = [(chance.randrange(9), chance.randrange(9)) for _ in range(25)]
    view = SetAtATime()
    for number, link in enumerate(links):
        view.apply([], [link, link])
        assert sorted(view.rows()) == sorted(closure(set(links[: number + 1])))
    # One copy is left.
    view.apply([links[0]], [])
    with pytest.raises(ValueError, match="nothing can be deleted"):
        view.apply([links[0]] * links.count(links[0]), [])


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_not_there_cannot_be_deleted(name: str) -> None:
    view = MAKERS[name]()
    view.load(LINKS)
    with pytest.raises(ValueError, match=r"\(0, 2\) is deleted 1 times and is there 0 times"):
        view.apply([(0, 2)], [])
    assert sorted(view.rows()) == sorted(closure(set(LINKS)))


@pytest.mark.parametrize("name", [*MAKERS, "set at a time"])
def test_the_papers_example_ships_sixteen_rows(name: str) -> None:
    """Section 3.2: four links and twelve derivations; lazy propagation ships as many (section 5)."""
    view = (MAKERS | {"set at a time": SetAtATime})[name](partitions=3)
    view.load(LINKS)
    assert len(list(view.rows())) == 9
    assert view.counters.shipped == 16


def test_delete_and_rederive_empties_the_papers_example() -> None:
    """Figure 5: all nine rows are deleted and derived again when link(C, B) goes, though none of them is lost; provenance loses none."""
    for name in ("DRed", "DRed by sets"):
        view = MAKERS[name](partitions=3)
        view.load(LINKS)
        before, shipped = view.touched, view.counters.shipped
        view.apply([(2, 1)], [])
        # The link; the three rows that followed from it, and nine that follow from those deleted over three links; nine rows taken out ...
        assert view.touched - before >= 1 + 3 + 9 + 9 + 9
        # ... and as many messages to delete, then nine to derive them again.
        assert view.counters.shipped - shipped == 1 + 3 + 9 + 9
        assert sorted(view.rows()) == sorted(closure(set(LINKS)))
    view = MAKERS["relative lazy"](partitions=3)
    view.load(LINKS)
    before = view.touched
    view.apply([(2, 1)], [])
    assert view.touched - before < 9


def test_lazy_provenance_ships_one_derivation_of_each_machine() -> None:
    """Two of the three derivations of 0 -> 9 are made on one machine."""
    links = [(0, 1), (0, 3), (0, 2), (1, 9), (3, 9), (2, 9)]
    views = {is_lazy: Relative(partitions=2, is_lazy=is_lazy) for is_lazy in (False, True)}
    for view in views.values():
        view.load(links)
    assert views[False].counters.shipped == views[True].counters.shipped + 1
    assert views[False].provenance_bytes == views[True].provenance_bytes
    # What was shipped goes, what waits takes its place.
    for view in views.values():
        view.apply([(1, 9)], [])
        view.apply([(2, 9)], [])
        assert (0, 9) in set(view.rows())
        view.apply([(3, 9)], [])
        assert (0, 9) not in set(view.rows())


def test_state_counts_attributes() -> None:
    view = DRed()
    view.load(LINKS)
    assert view.state_bytes == 16 * (9 + 2 * 4)
    provenance = Relative()
    provenance.load(LINKS)
    # Four rows are links, and twelve derivations are over a link.
    assert provenance.provenance_bytes == 16 * (4 + 12)
    assert provenance.state_bytes == view.state_bytes + provenance.provenance_bytes


def cheapest(links: set[Row]) -> set[Row]:
    """Return the least cost of each pair, by relaxing until nothing is cheaper."""
    least: dict[tuple[int, int], int] = {}
    offered = {(source, target, cost) for source, target, cost in links}
    while offered:
        source, target, cost = offered.pop()
        if cost < least.get((source, target), cost + 1):
            least[source, target] = cost
            offered |= {(before, target, more + cost) for before, middle, more in links if middle == source}
    return {(source, target, cost) for (source, target), cost in least.items()}


@pytest.mark.parametrize("kind", [CostsByDRed, CostsFromScratch])
@pytest.mark.parametrize("seed", range(4))
def test_costs_are_those_of_cheapest_paths(kind: type[Costs], seed: int) -> None:
    chance = Random(seed)
    nodes = chance.choice([3, 5, 7])

    def draw() -> Row:
        # Few costs make many ties.
        return chance.randrange(nodes), chance.randrange(nodes), chance.randrange(1, 4)

    base = Counter(draw() for _ in range(nodes * 2))
    view = kind()
    view.load(list(base.elements()))
    for deleted, inserted in changes(chance, base, draw):
        view.apply(deleted, inserted)
        assert sorted(view.rows()) == sorted(cheapest(set(+base)))


@pytest.mark.parametrize("row", [(0, 1, 0), (0, 1, -1)])
def test_costs_must_be_positive(row: Row) -> None:
    with pytest.raises(ValueError, match="must have a positive cost"):
        CostsByDRed().load([row])
    with pytest.raises(ValueError, match="is deleted and is not there"):
        CostsByDRed().apply([row], [])


def test_fingerprints_tell_rows_apart_and_not_their_order() -> None:
    rows: list[Row] = [(0, 0), (0, 1), (1, 0), (7, 9)]
    assert fingerprint([]) == (0, 0)
    assert fingerprint(rows) == fingerprint(rows[::-1])
    assert len({fingerprint([row]) for row in rows}) == len(rows)
    assert fingerprint([(1, 2, 3)]) != fingerprint([(1, 3, 2)]) != fingerprint([(1, 2, 4)])
    # The peer's hash of a pair is this too: computed by hand from the definition of splitmix64 for the state 0.
    assert fingerprint([(0, 0)]) == (1, int(np.uint64(0xE220A8397B1DCDAF)))
