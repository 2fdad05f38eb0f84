"""Recursive views under changes of their base rows: the driver against delete and rederive, and provenance.

Experiments of the recursive-view paper: figure 7 (``reachable``, shares of the links inserted), 8 (deletions one by one), 9 and 10
(regions), 11 and 12 (dense and sparse networks, a fifth deleted). Larger networks, one by power law, and batches are added. All
are in this process and in Python, and all keep their state from one measurement to the next. The ratio to *DRed* is that of
two algorithms that go row by row; *DRed by sets* and *recomputed* are as fast as Python's sets make them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from benchmarks.journal import Journal, Page
from benchmarks.protocol import Plan, Turn, Way, Work, take_turns
from benchmarks.records import Scalar
from benchmarks.recursion import ours, sensors, spreading
from benchmarks.recursion.absorbed import Absorbed
from benchmarks.recursion.costs import CostsByDRed, CostsFromScratch
from benchmarks.recursion.dred import DRed, DRedOfSets
from benchmarks.recursion.figures import OURS
from benchmarks.recursion.maintained import Maintained, Row
from benchmarks.recursion.networks import Density, Network, power_law, transit_stub
from benchmarks.recursion.peer import Peer
from benchmarks.recursion.recompute import Recompute
from benchmarks.recursion.relative import Relative
from benchmarks.recursion.set_at_a_time import SetAtATime
from benchmarks.recursion.spreading import REACHABLE, Program
from benchmarks.recursion.streams import Change, Stream
from benchmarks.recursion.turns import turn, turn_of_stream

NODES = 100
"""Of the paper's networks. Provenance is measured up to here: it keeps every derivation, four million of 4,000 links."""
LARGE = 1_000
POWER_LAW_NODES = 10_000
SHARES = (25, 50, 75, 100)
"""Percent of the links that are inserted into nothing."""
LOADS = 3
"""Repetitions of that in large networks."""
CHANGES = (
    Change(is_insert=False, batches=10),
    Change(is_insert=False, batch=10),
    Change(is_insert=False, batch=100),
    Change(is_insert=False, share=20),
    Change(is_insert=True, batches=10),
    Change(is_insert=True, batch=10),
    Change(is_insert=True, batch=100),
)
FEW_CHANGES = (CHANGES[0], CHANGES[1], CHANGES[4], CHANGES[5])

Maker = Callable[[], Maintained]


@dataclass(frozen=True, slots=True)
class View:
    """What is maintained, and by whom.

    Attributes:
        rows: of the base table, in the order in which they are inserted.
        systems: follow all changes.
        inserting: can only insert, and are measured there beside the others.
        loads: repetitions for each share that is inserted; 0 where all that the plan has.
    """

    labels: Mapping[str, Scalar]
    rows: Sequence[Row]
    systems: Mapping[str, Maker]
    inserting: Mapping[str, Maker]
    shares: tuple[int, ...] = SHARES
    changes: tuple[Change, ...] = CHANGES
    loads: int = 0
    facts: Mapping[str, Scalar] = field(default_factory=dict)


def run(journal: Journal, plan: Plan, *, is_quick: bool) -> None:
    """Measure one case per view and share inserted, and one per view and change. ``is_quick`` leaves out all but the paper's sizes."""
    for view in _views(is_quick=is_quick):
        measure(journal, plan, view)


def measure(journal: Journal, plan: Plan, view: View) -> None:
    """Measure the cases of one view."""
    plan = replace(plan, settling=0, warm_up=min(plan.warm_up, 1))
    for share in view.shares:
        _insertion(journal.page({**view.labels, "inserted": f"{share} %"}), plan, view, share)
    with _loaded(view) as systems:
        for change in view.changes:
            _changes(journal.page({**view.labels, **change.labels}), plan, view, systems, change)


def _views(*, is_quick: bool) -> Iterator[View]:
    yield from networks(is_quick=is_quick)
    yield _regions(sensors.field())
    network = transit_stub(NODES, Density.DENSE)
    rows = [(*link, cost) for link, cost in network.costs.items()]
    costs: dict[str, Maker] = {OURS: ours.shortest_paths, "DRed": CostsByDRed, "recomputed": CostsFromScratch}
    yield View({"view": "shortest paths", **_network("transit-stub", "dense", network)}, rows, costs, {}, (100,), FEW_CHANGES)


def networks(*, is_quick: bool) -> Iterator[View]:
    """Give the views of reachable nodes."""
    for nodes in (NODES,) if is_quick else (NODES, LARGE):
        for density in Density:
            yield _reachable("transit-stub", density.name.lower(), transit_stub(nodes, density))
    if not is_quick:
        yield _reachable("power law", "2 links each", power_law(POWER_LAW_NODES))


def _regions(sensing: sensors.Field) -> View:
    program = spreading.regions(sensing)
    labels: dict[str, Scalar] = {"view": "regions", "sensors": len(sensing.sensor), "reach": sensors.REACH}
    systems: dict[str, Maker] = {OURS: partial(ours.regions, sensing), **_others(program), **relative_provenance(program)}
    return View(labels, sensing.triggered, systems, {"set at a time": partial(SetAtATime, program)}, changes=FEW_CHANGES)


def _reachable(kind: str, density: str, network: Network) -> View:
    systems: dict[str, Maker] = {OURS: ours.reachable, **_others(REACHABLE)}
    is_small = network.nodes <= NODES
    if is_small:
        systems |= relative_provenance(REACHABLE)
    labels = {"view": "reachable", **_network(kind, density, network)}
    shares, loads = (SHARES, 0) if is_small else (SHARES[-1:], LOADS)
    return View(labels, network.links, systems, {"set at a time": SetAtATime}, shares, loads=loads)


def _network(kind: str, density: str, network: Network) -> dict[str, Scalar]:
    return {"network": kind, "density": density, "nodes": network.nodes, "links": len(network.costs)}


def _others(program: Program) -> dict[str, Maker]:
    return {"DRed": partial(DRed, program), "DRed by sets": partial(DRedOfSets, program), "recomputed": partial(Recompute, program)}


def relative_provenance(program: Program, partitions: int = spreading.PARTITIONS) -> dict[str, Maker]:
    """Give the systems that keep derivations."""
    return {f"relative {name}": partial(Relative, program, partitions, is_lazy=name == "lazy") for name in ("eager", "lazy")}


def _insertion(page: Page, plan: Plan, view: View, share: int) -> None:
    """Each turn begins from nothing, also that of the cold start."""
    rows = view.rows[: len(view.rows) * share // 100]
    page.facts.update({"base rows": len(rows), "partitions": spreading.PARTITIONS, **view.facts})
    ways: dict[str, Way] = {name: partial(_inserted, page, name, make, rows) for name, make in {**view.systems, **view.inserting}.items()}
    if view.loads and view.loads < plan.repetitions:
        page.shortened = f"{view.loads} repetitions instead of {plan.repetitions}: each takes all links of a large network in"
        plan = replace(plan, repetitions=view.loads)
    # Nothing is changed for all, and starting from nothing needs no more warmth than the cold start gives.
    take_turns(page, plan, Work(ways))


def _inserted(page: Page, name: str, make: Maker, rows: Sequence[Row]) -> Turn:
    with _opened({name: make}) as systems:
        system = systems[name]
        found = turn(system, [((), rows)])
        [(number, _)] = found.rows or [(0, 0)]
        page.facts["rows"] = number
        if isinstance(system, Relative):
            page.facts[f"provenance bytes per row, {name}"] = system.provenance_bytes / max(number, 1)
        if isinstance(system, Absorbed):
            page.facts[f"provenance bytes per row, {name}"] = system.provenance_bytes
            page.facts[f"bytes of the machine with most, {name}"] = system.most_state_bytes
        return found


def _changes(page: Page, plan: Plan, view: View, systems: Mapping[str, Maintained], change: Change) -> None:
    stream = Stream(view.rows, change)
    page.facts.update({"base rows": len(view.rows), "partitions": spreading.PARTITIONS, **view.facts})
    ways: dict[str, Way] = {name: partial(turn_of_stream, system, stream) for name, system in systems.items()}
    # What changes is applied by each system in its own turn, which is what is timed.
    take_turns(page, plan, Work(ways, change=lambda: None, before=partial(stream.prepare, systems.values())))
    stream.restore(systems.values())


@contextmanager
def _loaded(view: View) -> Iterator[dict[str, Maintained]]:
    with _opened(view.systems) as systems:
        for system in systems.values():
            system.load(view.rows)
        yield systems


@contextmanager
def _opened(makers: Mapping[str, Maker]) -> Iterator[dict[str, Maintained]]:
    with ExitStack() as stack:
        systems: dict[str, Maintained] = {}
        for name, make in makers.items():
            system = systems[name] = make()
            if isinstance(system, Peer):
                stack.enter_context(system)
        yield systems
