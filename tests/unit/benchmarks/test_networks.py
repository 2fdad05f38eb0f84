"""Networks and fields of sensors have the sizes that the paper gives, hang together, and are the same for the same seed."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.recursion import networks, sensors
from benchmarks.recursion.networks import Density, Link, power_law, transit_stub
from benchmarks.recursion.recompute import Recompute


def reached(nodes: int, links: list[Link]) -> set[int]:
    """Return the nodes that can be reached from the first one, by walking."""
    seen, pending = {0}, [0]
    targets: dict[int, list[int]] = {node: [] for node in range(nodes)}
    for source, target in links:
        targets[source].append(target)
    while pending:
        for target in targets[pending.pop()]:
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return seen


@pytest.mark.parametrize(
    ("nodes", "density", "links"),
    [
        (100, Density.DENSE, 400),
        (200, Density.DENSE, 800),
        (1_000, Density.DENSE, 4_000),
        (10_000, Density.DENSE, 40_000),
        (100, Density.SPARSE, 200),
        # Nine domains are connected with the first.
        (1_000, Density.SPARSE, 2_000 + 2 * 9),
    ],
)
def test_a_transit_stub_network_has_the_papers_number_of_links(nodes: int, density: Density, links: int) -> None:
    network = transit_stub(nodes, density)
    assert (network.nodes, len(network.links)) == (nodes, links)
    assert {node for link in network.links for node in link} == set(range(nodes))
    assert all(source != target and network.costs[target, source] == cost for (source, target), cost in network.costs.items())


@pytest.mark.parametrize("density", list(Density))
@pytest.mark.parametrize("nodes", [1, 2, 5, 25, 26, 33, 100, 127, 1_000])
def test_all_nodes_of_a_transit_stub_network_reach_each_other(nodes: int, density: Density) -> None:
    for seed in range(3):
        # Links go both ways, so one start is enough.
        assert len(reached(nodes, transit_stub(nodes, density, seed).links)) == nodes


def test_latencies_are_those_of_the_links_ends() -> None:
    costs = transit_stub(100, Density.DENSE).costs
    transit = range(4)
    for (source, target), cost in costs.items():
        ends = (source in transit) + (target in transit)
        assert cost == {2: networks.BETWEEN_TRANSIT, 1: networks.TO_STUB, 0: networks.INSIDE_STUB}[ends]
    # A ring of four transit nodes, both ways; 12 stubs with a home each, and one in four of the 100 links that a dense network has more.
    assert Counter(costs.values()) == {50: 8, 10: 2 * (12 + 25), 2: 400 - 8 - 2 * (12 + 25)}


def test_stubs_are_trees_of_eight_nodes_where_links_are_few() -> None:
    costs = transit_stub(100, Density.SPARSE).costs
    for begin in range(4, 100, 8):
        stub = range(begin, begin + 8)
        assert sum(source in stub and target in stub for source, target in costs) == 2 * 7
        assert sum(source in stub and target not in stub for source, target in costs) == 1


@pytest.mark.parametrize("make", [lambda seed: transit_stub(100, Density.DENSE, seed), lambda seed: power_law(500, seed)])
def test_the_seed_decides(make: object) -> None:
    assert callable(make)
    assert list(make(1).costs.items()) == list(make(1).costs.items())
    assert list(make(1).costs.items()) != list(make(2).costs.items())


def test_a_network_by_power_law_is_skewed_and_has_few_pairs() -> None:
    nodes = 2_000
    network = power_law(nodes)
    assert 2 * nodes - 30 < len(network.links) < 2 * nodes + 30
    # All lead to the first node in the end.
    assert len(reached(nodes, [link[::-1] for link in network.links])) == nodes
    degrees = sorted(Counter(node for link in network.links for node in link).values(), reverse=True)
    assert degrees[0] > 50
    assert degrees[nodes // 2] <= 3
    view = Recompute()
    view.load(network.links)
    # Of four million if links were mutual; some nodes reach themselves.
    assert 0 < sum(node in labels for node, labels in view.labels.items()) < nodes // 10
    assert sum(map(len, view.labels.values())) < 100 * nodes


def test_a_field_has_the_papers_size() -> None:
    field = sensors.field()
    assert len(field.sensor) == 100
    assert all(0 <= metre < sensors.SIDE for place in field.sensor.values() for metre in place)
    assert [region for region, _ in field.mains] == list(range(5))
    # The seeds are triggered first, then others, half of the sensors in all.
    assert [sensor for _, sensor in field.mains] == [sensor for (sensor,) in field.triggered[:5]]
    assert len(set(field.triggered)) == len(field.triggered) == 50
    assert sensors.field() == field
    assert sensors.field(2) != field


def test_near_is_less_than_twenty_metres() -> None:
    field = sensors.field()
    near = field.near()
    places = {place: sensor for sensor, place in field.sensor.items()}
    middle = places[50, 50]
    assert {field.sensor[each] for each in near[middle]} == {(east, north) for east in (40, 50, 60) for north in (40, 50, 60)}
    assert len(near[places[0, 0]]) == 4
    assert all(one in near[two] for one, others in near.items() for two in others)
