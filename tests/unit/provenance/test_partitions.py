"""Distributed recursions against recomputation: random streams, random orders in which channels are served, all ways to ship."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.errors import NotSupportedError
from imp_driver.provenance.base_rows import Contradiction, Fact
from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.fixpoint import Passing
from imp_driver.provenance.library import LibraryName
from imp_driver.provenance.node import Delivery, Node, Outcome
from imp_driver.provenance.partitions import Channel, Network, NotSettled, Strategy, placed_by_hash
from imp_driver.provenance.queries import COST, LENGTH, active_region, best, largest_regions, near, path, reachable, shortest_cheapest
from imp_driver.provenance.selection import Aggregate, AggregateName
from imp_driver.provenance.updates import Deletion
from imp_driver.provenance.windows import LatestRows
from tests.unit.provenance.twins import LINEAR, distances, libraries, reached, supports

SHIPPING = [(Strategy.PLAIN, 1), (Strategy.EAGER, 1), (Strategy.EAGER, 3), (Strategy.LAZY, 1)]
LEAST = (Aggregate(AggregateName.MIN, COST), Aggregate(AggregateName.MIN, LENGTH))


def at_random(chance: random.Random) -> Callable[[Sequence[Channel]], Channel]:
    return lambda channels: chance.choice(list(channels))


@pytest.mark.parametrize("passing", Passing)
@pytest.mark.parametrize(("strategy", "window"), SHIPPING)
@pytest.mark.parametrize("library", libraries())
def test_reachable_rows_are_those_of_the_links_that_are_there(
    library: LibraryName, strategy: Strategy, window: int, passing: Passing
) -> None:
    """Also where several links change before anything is delivered, so that deletions overtake insertions."""
    for seed in range(12):
        chance = random.Random(seed)
        network = Network(
            reachable(passing), chance.choice([1, 2, 4]), strategy, window=window, diagrams=Diagrams(library), choose=at_random(chance)
        )
        links: dict[Row, None] = {}
        for _ in range(8):
            for _ in range(chance.randrange(1, 5)):
                link = (chance.randrange(5), chance.randrange(5))
                if link in links:
                    del links[link]
                    network.delete("link", link)
                else:
                    links[link] = None
                    network.insert("link", link)
            network.settle()
            assert network.annotations().keys() == reached(links)


@pytest.mark.parametrize("strategy", [Strategy.PLAIN, Strategy.EAGER])
def test_what_is_shipped_eagerly_is_the_whole_provenance(strategy: Strategy) -> None:
    for seed in range(6):
        chance = random.Random(seed)
        diagrams = Diagrams()
        network = Network(reachable(), 3, strategy, window=2, diagrams=diagrams, choose=at_random(chance))
        links = list({(chance.randrange(4), chance.randrange(4)) for _ in range(8)})
        for link in links:
            network.insert("link", link)
        network.settle()
        network.delete("link", links[0])
        network.settle()
        numbers: dict[Fact, int] = {(0, link): place for place, link in enumerate(links)}
        expected = {}
        for (_, row), sets in supports(LINEAR, [(0, link) for link in links[1:]]).items():
            function = diagrams.false
            for each in sets:
                function = diagrams.or_(function, diagrams.all_of(numbers[fact] for fact in each))
            expected[row] = function
        assert network.annotations() == expected


def test_alternatives_are_shipped_before_the_news_of_the_deletion(monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[list[object]] = []
    receive = Node.receive

    def recorded(node: Node, content: Sequence[Delivery | Deletion]) -> Outcome:
        received.append([each.variables if isinstance(each, Deletion) else each.update.row for each in content])
        return receive(node, content)

    network = Network(reachable(), 3, Strategy.LAZY, place=lambda value: "ABC".index(str(value)))
    for link in ["AB", "BC", "CA", "CB"]:
        network.insert("link", tuple(link))
    network.settle()
    monkeypatch.setattr(Node, "receive", recorded)
    network.delete("link", ("C", "B"))
    network.settle()
    assert received == [[("B", "B"), ("B", "C"), {3}], [{3}], [("A", "B")]]


def test_copies_of_a_link_count() -> None:
    network = Network(reachable(), 2)
    for _ in range(2):
        network.insert("link", (1, 2))
    network.settle()
    before = network.traffic.messages
    network.delete("link", (1, 2))
    network.settle()
    assert network.annotations().keys() == {(1, 2)}
    assert network.traffic.messages == before
    network.delete("link", (1, 2))
    network.settle()
    assert network.annotations() == {}
    with pytest.raises(Contradiction):
        network.delete("link", (1, 2))


def test_links_expire_in_the_join_and_everywhere_else() -> None:
    network = Network(reachable(window=lambda: LatestRows(2)), 1)
    for link in [(1, 2), (2, 3), (3, 4)]:
        network.insert("link", link)
        network.settle()
    assert network.annotations().keys() == reached([(2, 3), (3, 4)])
    with pytest.raises(Contradiction):
        network.delete("link", (1, 2))
    network.insert("link", (1, 2))
    network.settle()
    assert network.annotations().keys() == reached([(3, 4), (1, 2)])


@pytest.mark.parametrize("nodes", [2, 5])
def test_links_expire_at_several_nodes(nodes: int) -> None:
    """Each node keeps the latest link that leads to it; all hear of those that expire."""
    network = Network(reachable(window=lambda: LatestRows(1)), nodes, choose=at_random(random.Random(nodes)))
    place, latest = placed_by_hash(nodes), dict[int, Row]()
    for link in [(1, 2), (2, 3), (3, 1), (4, 2), (2, 1), (1, 5), (5, 4), (3, 2)]:
        network.insert("link", link)
        network.settle()
        latest[place(link[1])] = link
        assert network.annotations().keys() == reached(latest.values())


def test_without_provenance_rows_are_only_inserted() -> None:
    network = Network(reachable(), 3, Strategy.SET)
    for link in [(1, 2), (2, 1), (1, 2)]:
        network.insert("link", link)
    network.settle()
    assert network.annotations().keys() == reached([(1, 2), (2, 1)])
    assert network.provenance_bytes() == network.traffic.provenance_bytes == 0
    with pytest.raises(NotSupportedError, match="link"):
        network.delete("link", (1, 2))


@pytest.mark.parametrize(("strategy", "window"), SHIPPING)
def test_best_paths_are_those_of_the_links_that_are_there(strategy: Strategy, window: int) -> None:
    for seed in range(8):
        chance = random.Random(seed)
        network = Network(path(LEAST), chance.choice([1, 3]), strategy, window=window, choose=at_random(chance))
        costs: dict[tuple[int, int], int] = {}
        for _ in range(8):
            for _ in range(chance.randrange(1, 4)):
                link = (chance.randrange(5), chance.randrange(5))
                if link in costs:
                    network.delete("link", (*link, costs.pop(link)))
                else:
                    costs[link] = chance.randrange(1, 4)
                    network.insert("link", (*link, costs[link]))
            network.settle(most_messages=10_000)
            found = list(network.annotations())
            cheapest = distances((*link, cost) for link, cost in costs.items())
            fewest = distances((*link, 1) for link in costs)
            assert {row[:2]: row[COST] for row in best(found, COST)} == cheapest
            assert {row[:2]: row[LENGTH] for row in best(found, LENGTH)} == fewest
            assert {*best(found, COST), *best(found, LENGTH)} == set(found)
            for row in found:
                nodes = row[2]
                assert isinstance(nodes, tuple)
                steps = list(pairwise(nodes))
                assert (row[0], row[1], row[COST], row[LENGTH]) == (nodes[0], nodes[-1], sum(costs[step] for step in steps), len(steps))


def test_all_cheapest_paths_are_there() -> None:
    network = Network(path(LEAST), 2)
    for link in [(1, 2, 5), (1, 3, 5), (2, 4, 5), (3, 4, 5), (1, 4, 11), (4, 1, 1)]:
        network.insert("link", link)
    network.settle()
    rows = [row for row in network.annotations() if row[:2] == (1, 4)]
    assert {row[2] for row in best(rows, COST)} == {(1, 2, 4), (1, 3, 4)}
    assert set(shortest_cheapest(rows)) == {(1, 4, (1, middle, 4), 10, (1, 4), 1) for middle in (2, 3)}
    network.delete("link", (1, 4, 11))
    network.settle()
    rows = [row for row in network.annotations() if row[:2] == (1, 4)]
    assert {row[5] for row in shortest_cheapest(rows)} == {2}


def test_two_aggregates_at_once_ship_less_than_all_paths_and_one_less_than_two() -> None:
    chance = random.Random(5)
    links = [(one, other, chance.randrange(1, 9)) for one in range(7) for other in range(one + 1, 7)]
    shipped = []
    for aggregates in (LEAST[:1], LEAST, ()):
        network = Network(path(aggregates), 4)
        for link in links:
            network.insert("link", link)
        network.settle()
        shipped.append(network.traffic.tuples)
    assert shipped == sorted(shipped)
    assert shipped[1] < shipped[2]


def test_all_paths_over_a_cycle_are_never_done() -> None:
    network = Network(path(()), 2, place=lambda value: int(str(value)) % 2)
    network.insert("link", (1, 2, 1))
    network.insert("link", (2, 1, 1))
    with pytest.raises(NotSettled, match="200"):
        network.settle(most_messages=200)


@pytest.mark.parametrize(("strategy", "window"), SHIPPING)
def test_regions_grow_and_shrink(strategy: Strategy, window: int) -> None:
    for seed in range(4):
        chance = random.Random(seed)
        positions: dict[object, tuple[float, float]] = {sensor: (chance.uniform(0, 100), chance.uniform(0, 100)) for sensor in range(25)}
        pairs = near(positions, 25)
        network = Network(active_region(), 3, strategy, window=window, choose=at_random(chance))
        for pair in pairs:
            network.insert("near", pair)
        main = [("red", 0), ("blue", 1), ("green", 2)]
        for row in main:
            network.insert("main", row)
        triggered: set[int] = set()
        for _ in range(12):
            sensor = chance.randrange(25)
            (network.delete if sensor in triggered else network.insert)("triggered", (sensor,))
            triggered ^= {sensor}
            network.settle()
            assert network.annotations().keys() == regions(main, triggered, pairs)
        with pytest.raises(NotSupportedError, match="near"):
            network.delete("near", pairs[0])


def regions(main: Sequence[Row], triggered: set[int], pairs: Sequence[Row]) -> set[Row]:
    """The twin of query 3."""
    found = {row for row in main if row[1] in triggered}
    while True:
        more = {(region, other) for region, sensor in found if sensor in triggered for one, other in pairs if one == sensor}
        if more <= found:
            return found
        found |= more


def test_largest_regions() -> None:
    assert largest_regions([("a", 1), ("b", 1), ("b", 2), ("c", 1), ("c", 5)]) == ["b", "c"]
    assert largest_regions([]) == []
    assert near({"a": (0, 0), "b": (3, 4), "c": (9, 9)}, 5.1) == [("a", "b"), ("b", "a")]
    assert near({"a": (0, 0), "b": (3, 4)}, 5) == []


def test_lazy_ships_least_and_sizes_are_counted() -> None:
    chance = random.Random(2)
    links = list({(chance.randrange(8), chance.randrange(8)) for _ in range(18)})
    sizes = {}
    for strategy, window in [(Strategy.LAZY, 1), (Strategy.EAGER, 5), (Strategy.EAGER, 1), (Strategy.PLAIN, 1)]:
        network = Network(reachable(), 4, strategy, window=window)
        for link in links:
            network.insert("link", link)
        network.settle()
        traffic = network.traffic
        assert traffic.bytes > traffic.provenance_bytes > 12 * traffic.tuples * 0.9
        assert len(network.state_bytes()) == 4
        assert network.provenance_bytes() >= 12
        sizes[strategy, window] = traffic.tuples
    assert list(sizes.values()) == sorted(sizes.values())
    assert sizes[Strategy.LAZY, 1] < sizes[Strategy.EAGER, 1]


def test_values_are_placed_the_same_in_each_process() -> None:
    place = placed_by_hash(7)
    assert [place(value) for value in ("a", "b", 1, None)] == [6, 3, 2, 4]
