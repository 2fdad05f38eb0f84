"""Networks as ``recursion`` measures them, with nothing beside the driver but differential dataflow, which is another process."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from benchmarks.journal import Journal
from benchmarks.protocol import Plan
from benchmarks.recursion.figures import OURS
from benchmarks.recursion.peer import Peer, PeerMissingError, built
from benchmarks.workloads.recursion import Maker, measure, networks

PEER = "differential"


def run(journal: Journal, plan: Plan, *, is_quick: bool) -> None:
    """Measure the cases of the networks; where the peer cannot be built they say so."""
    peer = _peer()
    for view in networks(is_quick=is_quick):
        systems = {OURS: view.systems[OURS]} | ({} if peer is None else {PEER: peer})
        facts = {} if peer else {PEER: "not measured: its program could not be built"}
        measure(journal, plan, replace(view, systems=systems, inserting={}, loads=0, facts=facts))


def _peer() -> Maker | None:
    try:
        return partial(Peer, built())
    except PeerMissingError as error:
        print(error, flush=True)
        return None
