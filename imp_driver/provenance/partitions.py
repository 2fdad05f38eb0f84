"""A distributed recursion in one process: to count what would be shipped (sections 3, 5 and 7 of the paper).

Nodes share nothing but the diagrams, which are the same wherever they are made, and talk over channels that keep the order of what one
node sends to another. A deletion is announced to every other node by the one where the base row belongs; what takes the place of deleted
rows goes before it on the same channel.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias
from zlib import crc32

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.errors import NotSupportedError
from imp_driver.provenance.base_rows import BaseRows
from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.library import Function
from imp_driver.provenance.node import Delivery, Node, Outcome, Placing
from imp_driver.provenance.plan import Plan, Target
from imp_driver.provenance.shipping import MinShip, Ship, Shipping
from imp_driver.provenance.sizes import MESSAGE_BYTES, VARIABLE_BYTES, annotation_bytes, row_bytes
from imp_driver.provenance.updates import Deletion, Kind, Update

Channel: TypeAlias = tuple[int, int]
"""The nodes that send and receive."""


class Strategy(Enum):
    """How rows are shipped.

    SET: without provenance, and only insertions. PLAIN: all derivations as they come. EAGER and LAZY: through MinShip with and without a
    window.
    """

    SET = "set"
    PLAIN = "plain"
    EAGER = "eager"
    LAZY = "lazy"


class NotSettled(Exception):
    """More messages were sent than allowed; the recursion may go on for ever."""


@dataclass(slots=True)
class Traffic:
    """What was sent so far.

    Attributes:
        tuples: rows in all messages, with or without provenance.
        bytes: of all messages; ``provenance_bytes`` of them are annotations.
        announcements: messages that hold a deletion.
    """

    messages: int = 0
    tuples: int = 0
    bytes: int = 0
    provenance_bytes: int = 0
    announcements: int = 0


def placed_by_hash(nodes: int) -> Placing:
    """Return a placing by a hash of the written value, which is the same in each process."""
    return lambda value: crc32(repr(value).encode()) % nodes


class Network:
    """The nodes, the channels between them, and the base rows that they were given.

    Args:
        nodes: how many.
        window: for EAGER, how many rows with further derivations wait at each operator until they are shipped.
        place: where values belong; by a hash if None.
        choose: picks the channel whose oldest message is taken next, from those that have one; the oldest of all if None.
    """

    def __init__(
        self,
        plan: Plan,
        nodes: int,
        strategy: Strategy = Strategy.LAZY,
        *,
        window: int = 1,
        diagrams: Diagrams | None = None,
        place: Placing | None = None,
        choose: Callable[[Sequence[Channel]], Channel] | None = None,
    ) -> None:
        self._plan = plan
        self._strategy = strategy
        self._diagrams = made = diagrams or Diagrams()
        self._place = place or placed_by_hash(nodes)
        self._choose = choose
        self._names = list(plan.relations)

        def ship(target: Target) -> Shipping:
            if strategy in (Strategy.SET, Strategy.PLAIN):
                return Ship()
            return MinShip(made, window if strategy is Strategy.EAGER else None, target.selecting)

        self._nodes = [Node(number, plan, made, self._place, ship) for number in range(nodes)]
        self._base = BaseRows()
        self._channels: dict[Channel, deque[Sequence[Delivery | Deletion]]] = {}
        self._order: deque[Channel] = deque()
        self.traffic = Traffic()

    def insert(self, relation: str, row: Row) -> None:
        """Give one copy of a base row to its node, which does what follows there; messages wait for ``settle``."""
        fact = (self._names.index(relation), row)
        change = self._base.change((), (fact,))
        numbers = self._base.numbered(change.fresh)
        self._base.make(change, numbers)
        for number in numbers.values():
            is_certain = self._strategy is Strategy.SET or self._plan.relations[relation].is_certain
            provenance = self._diagrams.true if is_certain else self._diagrams.variable(number)
            home = self._home(relation, row)
            self._take(home, self._nodes[home].insert(relation, Update(Kind.INSERT, row, provenance)))

    def delete(self, relation: str, row: Row) -> None:
        """Take one copy of a base row away; messages wait for ``settle``.

        Raises:
            Contradiction: it is not there.
            NotSupportedError: its relation is certain, or rows have no provenance.
        """
        if self._strategy is Strategy.SET or self._plan.relations[relation].is_certain:
            raise NotSupportedError(f"Rows of {relation} have no provenance here, so none can be deleted.")
        fact = (self._names.index(relation), row)
        change = self._base.change((fact,), ())
        variables = frozenset(self._base.variable(gone) for gone in change.gone)
        self._base.make(change, {})
        if variables:
            self._announce(self._home(relation, row), variables)

    def settle(self, most_messages: int | None = None) -> None:
        """Deliver messages until there are none and nothing waits to be shipped.

        Raises:
            NotSettled: more messages than this were delivered.
        """
        delivered = 0
        while True:
            while self._order:
                if delivered == most_messages:
                    raise NotSettled(f"After {delivered} messages the recursion still goes on.")
                delivered += 1
                self._deliver()
            for number, node in enumerate(self._nodes):
                self._take(number, node.flush())
            if not self._order:
                break
        for node in self._nodes:
            node.settled()

    def annotations(self) -> dict[Row, Function]:
        """Return the rows of the view at all nodes, with what their nodes know of their provenance."""
        return {row: node.fixpoint.annotations[row] for node in self._nodes for row in node.fixpoint.annotations}

    def provenance_bytes(self) -> float:
        """Return the mean bytes of the annotations of the rows of the view."""
        found = self.annotations()
        return sum(annotation_bytes(self._diagrams, each) for each in found.values()) / len(found) if found else 0.0

    def state_bytes(self) -> list[int]:
        """Return about the memory of the operators of each node."""
        return [node.state_bytes for node in self._nodes]

    def _home(self, relation: str, row: Row) -> int:
        return self._place(row[self._plan.relations[relation].column])

    def _announce(self, origin: int, variables: frozenset[int]) -> None:
        """Let a node forget variables, and then all others."""
        outcome = self._nodes[origin].forget(variables)
        for number in range(len(self._nodes)):
            if number != origin:
                outcome.parcels.setdefault(number, []).append(Deletion(variables))
        self._take(origin, outcome)

    def _take(self, source: int, outcome: Outcome) -> None:
        """Send what a node has for others, one message each."""
        for to, content in outcome.parcels.items():
            self._channels.setdefault((source, to), deque()).append(content)
            self._order.append((source, to))
            self._count(content)
        expired = frozenset(self._base.expire(outcome.expired))
        if expired:
            self._announce(source, expired)

    def _count(self, content: Sequence[Delivery | Deletion]) -> None:
        traffic = self.traffic
        traffic.messages += 1
        traffic.bytes += MESSAGE_BYTES
        for each in content:
            if isinstance(each, Deletion):
                traffic.announcements += 1
                traffic.bytes += VARIABLE_BYTES * len(each.variables)
                continue
            provenance = annotation_bytes(self._diagrams, each.update.provenance)
            traffic.tuples += 1
            traffic.bytes += row_bytes(each.update.row) + provenance
            traffic.provenance_bytes += provenance

    def _deliver(self) -> None:
        if self._choose is None:
            channel = self._order.popleft()
        else:
            channel = self._choose(sorted(set(self._order)))
            self._order.remove(channel)
        self._take(channel[1], self._nodes[channel[1]].receive(self._channels[channel].popleft()))
