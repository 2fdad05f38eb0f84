"""Figures 7 to 14 of the recursive-view paper, in its sizes: what provenance costs where rows lie on several machines.

Absorption provenance (the product's operators) and relative provenance, each eager and lazy, delete and rederive, and the driver, which
keeps levels in place of provenance and ships nothing. All are in this process: what would be shipped is counted, time is that of one core
for all machines. Each case has what the paper measures: bytes of an annotation, bytes shipped, bytes of state, time to converge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.records import Scalar
from benchmarks.recursion import absorbed, ours, sensors, spreading
from benchmarks.recursion.dred import DRed
from benchmarks.recursion.figures import OURS
from benchmarks.recursion.networks import Density, Network, transit_stub
from benchmarks.recursion.spreading import PARTITIONS, REACHABLE, Program
from benchmarks.recursion.streams import Change
from benchmarks.workloads.recursion import Maker, View, measure, relative_provenance
from imp_driver.provenance.diagrams import TooManyNodes
from imp_driver.provenance.partitions import Strategy

NODES = 100
SHARES = (25, 50, 75, 100)
"""Percent of the links."""
MOST_EAGER = 25
"""Percent of the links of a dense network that eager absorption gets: with half of them it has not ended after minutes."""
SIZES = (25, 50, 100, 200)
"""Nodes of the networks of figures 11 and 12: up to 800 links, where they are dense."""
MOST_DELETED = 400
"""Links of a dense network of which a fifth is deleted at once: of 800, lazy absorption needs more than 20,000,000 nodes of diagrams."""
MACHINES = (8, 12, 16, 24)
"""Of figure 13. Where few have all rows, little is shipped and so held back, and lazy is nearly as eager as eager."""
ONE_BY_ONE, A_FIFTH, TEN = Change(is_insert=False, batches=10), Change(is_insert=False, share=20), Change(is_insert=False, batch=10)
LAZY, EAGER = "absorption lazy", "absorption eager"


def run(journal: Journal, plan: Plan, *, is_quick: bool) -> None:
    """Measure one case per figure and size; ``is_quick`` leaves out all but the smallest size of each."""
    for view in _views(is_quick=is_quick):
        try:
            measure(journal, plan, view)
        except TooManyNodes as error:
            journal.page({**view.labels, "ended": "early"}).facts["why"] = str(error)


def _views(*, is_quick: bool) -> Iterator[View]:
    yield from _insertions(SHARES[:1] if is_quick else SHARES)
    yield _regions(sensors.field())
    for nodes in SIZES[:1] if is_quick else SIZES:
        for density in Density:
            yield _growing(nodes, density)
    for machines in MACHINES[:1] if is_quick else MACHINES:
        yield _spread(machines, transit_stub(SIZES[0] if is_quick else NODES, Density.DENSE))
    for density in Density:
        yield _shortest(transit_stub(SIZES[0] if is_quick else NODES, density), density)


def _insertions(shares: tuple[int, ...]) -> Iterator[View]:
    """Figures 7 and 8: shares of the links inserted into nothing; of all of them some are deleted, one by one."""
    network = transit_stub(NODES, Density.DENSE)
    for share in shares:
        view = _reachable("7", network, Density.DENSE, {**_baselines(REACHABLE, PARTITIONS), LAZY: _absorbed(Strategy.LAZY)})
        eager: dict[str, Maker] = {EAGER: _absorbed(Strategy.EAGER)} if share <= MOST_EAGER else {}
        changes = (ONE_BY_ONE,) if share == shares[-1] else ()
        yield replace(view, inserting=eager, shares=(share,), changes=changes)


def _regions(sensing: sensors.Field) -> View:
    """Figures 9 and 10: half of all sensors triggered, and taken back at random."""
    systems: dict[str, Maker] = {OURS: partial(ours.regions, sensing), **_baselines(spreading.regions(sensing), PARTITIONS)}
    for name, strategy in ((LAZY, Strategy.LAZY), (EAGER, Strategy.EAGER)):
        systems[name] = partial(absorbed.regions, sensing, strategy, PARTITIONS)
    labels: dict[str, Scalar] = {"figure": "9", "view": "regions", "sensors": len(sensing.sensor)}
    return View(labels, sensing.triggered, systems, {}, SHARES[-1:], (ONE_BY_ONE, A_FIFTH))


def _growing(nodes: int, density: Density) -> View:
    """Figures 11 and 12: larger networks, a fifth of the links deleted."""
    systems = {LAZY: _absorbed(Strategy.LAZY)}
    if density is Density.SPARSE:
        systems[EAGER] = _absorbed(Strategy.EAGER)
    view = _reachable("11", transit_stub(nodes, density), density, systems)
    is_deleted = density is Density.SPARSE or len(view.rows) <= MOST_DELETED
    return replace(view, shares=SHARES[-1:], changes=(A_FIFTH,) if is_deleted else ())


def _spread(machines: int, network: Network) -> View:
    """Figure 13: more machines."""
    systems: dict[str, Maker] = {"DRed": partial(DRed, REACHABLE, machines), LAZY: _absorbed(Strategy.LAZY, machines)}
    view = _reachable("13", network, Density.DENSE, systems)
    labels: dict[str, Scalar] = {**view.labels, "machines": machines}
    return replace(view, labels=labels, systems=systems, shares=SHARES[-1:], changes=(TEN,))


def _shortest(network: Network, density: Density) -> View:
    """Figure 14: paths of least cost, by one selection and by two; without any there is no end."""
    rows = [(*link, cost) for link, cost in network.costs.items()]
    systems: dict[str, Maker] = {OURS: ours.shortest_paths}
    for name, aggregates in (("one selection", absorbed.CHEAPEST), ("two selections", absorbed.CHEAPEST_AND_SHORTEST)):
        systems[name] = partial(absorbed.shortest_paths, aggregates, PARTITIONS)
    labels: dict[str, Scalar] = {"figure": "14", "view": "shortest paths", **_network(network, density)}
    return View(labels, rows, systems, {}, SHARES[-1:], (TEN,))


def _reachable(figure: str, network: Network, density: Density, systems: Mapping[str, Maker]) -> View:
    labels: dict[str, Scalar] = {"figure": figure, "view": "reachable", **_network(network, density)}
    return View(labels, network.links, {OURS: ours.reachable, **systems}, {})


def _network(network: Network, density: Density) -> dict[str, Scalar]:
    return {"density": density.name.lower(), "nodes": network.nodes, "links": len(network.costs)}


def _baselines(program: Program, machines: int) -> dict[str, Maker]:
    return {"DRed": partial(DRed, program, machines), **relative_provenance(program, machines)}


def _absorbed(strategy: Strategy, machines: int = PARTITIONS) -> Maker:
    return partial(absorbed.reachable_nodes, strategy, machines)
