"""One turn of one system: its time for some changes, what it counted meanwhile, and its rows to compare."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from benchmarks.protocol import Turn
from benchmarks.records import Quantity
from benchmarks.recursion.absorbed import Absorbed
from benchmarks.recursion.maintained import Maintained, fingerprint
from benchmarks.recursion.peer import Peer
from benchmarks.recursion.spreading import Spreading
from benchmarks.recursion.streams import Step, Stream


def turn(system: Maintained, steps: Sequence[Step]) -> Turn:
    """Let a system follow some changes, one after the other.

    The rows to compare are one: their number and fingerprint, since a million of them would take longer to compare than to maintain.
    """
    before = _counted(system)
    milliseconds = _milliseconds(system, steps)
    spent = {quantity: value - before[quantity] for quantity, value in _counted(system).items()}
    spent[Quantity.CALL] = milliseconds
    if isinstance(system, (Spreading, Absorbed)):
        spent[Quantity.SIZE] = system.state_bytes
    return Turn([system.fingerprint if isinstance(system, Peer) else fingerprint(system.rows())], spent)


def turn_of_stream(system: Maintained, stream: Stream) -> Turn:
    """Let a system follow what a stream has drawn last."""
    return turn(system, stream.steps)


def _counted(system: Maintained) -> dict[Quantity, float]:
    if isinstance(system, Peer):
        return {}
    if isinstance(system, Absorbed):
        return {Quantity.SHIPPED: system.shipped, Quantity.SHIPPED_BYTES: system.shipped_bytes}
    counted: dict[Quantity, float] = {Quantity.TOUCHED: system.touched}
    if isinstance(system, Spreading):
        counted |= {Quantity.SHIPPED: system.counters.shipped, Quantity.SHIPPED_BYTES: system.counters.shipped_bytes}
    return counted


def _milliseconds(system: Maintained, steps: Sequence[Step]) -> float:
    if isinstance(system, Peer):
        before = system.microseconds
        for step in steps:
            system.apply(*step)
        return (system.microseconds - before) / 1000
    with _no_collection():
        begin = time.perf_counter()
        for step in steps:
            system.apply(*step)
        return (time.perf_counter() - begin) * 1000


@contextmanager
def _no_collection() -> Iterator[None]:
    """All systems share the heap of this process: Python's collector would make one pay for the rows of another."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
