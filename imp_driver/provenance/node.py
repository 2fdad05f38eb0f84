"""One node of a distributed recursion: its operators, what ships their output, and what it knows of deletions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.plan import VIEW, Plan, Target
from imp_driver.provenance.shipping import Shipping
from imp_driver.provenance.updates import Deletion, Kind, Operator, Output, Update

Placing: TypeAlias = Callable[[object], int]
"""A value -> the number of the node where the rows belong that have it in the column by which they are partitioned."""


@dataclass(frozen=True, slots=True, eq=False)
class Delivery:
    """An update for one input of one operator."""

    operator: str
    port: int
    update: Update


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a node has for others.

    Attributes:
        parcels: number of a node -> what it is to get, in this order.
        expired: variables of base rows that a window dropped.
    """

    parcels: dict[int, list[Delivery | Deletion]] = field(default_factory=dict)
    expired: set[int] = field(default_factory=set)


class Node:
    """Runs a plan over the rows that belong here.

    Args:
        number: its own.
        ship: makes what ships the rows for a target.
    """

    def __init__(self, number: int, plan: Plan, diagrams: Diagrams, place: Placing, ship: Callable[[Target], Shipping]) -> None:
        self._number = number
        self._plan = plan
        self._diagrams = diagrams
        self._place = place
        self.fixpoint = plan.fixpoint(diagrams)
        self._operators: dict[str, Operator] = {name: stage.make(diagrams) for name, stage in plan.stages.items()}
        self._operators[VIEW] = self.fixpoint
        targets = [(name, relation.targets) for name, relation in plan.relations.items()] + list(self._outputs().items())
        self._ships: dict[tuple[str, int], Shipping] = {
            (name, place): ship(to) for name, those in targets for place, to in enumerate(those) if to.column is not None
        }
        # Deletions that may overtake insertions which other nodes sent before they heard of them.
        self._dead: set[int] = set()

    def insert(self, relation: str, update: Update) -> Outcome:
        """Take a base row that belongs here."""
        outcome = Outcome()
        self._run(self._routed(relation, self._plan.relations[relation].targets, (update,), outcome), outcome)
        return outcome

    def receive(self, content: Sequence[Delivery | Deletion]) -> Outcome:
        """Take what another node sent, one after the other."""
        outcome = Outcome()
        for each in content:
            if isinstance(each, Deletion):
                self._forget(each.variables, outcome)
                continue
            provenance = self._diagrams.restrict_false(each.update.provenance, self._dead)
            if not self._diagrams.is_false(provenance):
                self._run([Delivery(each.operator, each.port, Update(Kind.INSERT, each.update.row, provenance))], outcome)
        return outcome

    def forget(self, variables: frozenset[int]) -> Outcome:
        """Make variables false. What is to be shipped in place of rows that are gone has to leave before the news of the deletion."""
        outcome = Outcome()
        self._forget(variables, outcome)
        return outcome

    def flush(self) -> Outcome:
        """Ship what waits to be shipped in any case."""
        outcome = Outcome()
        for (name, place), ship in self._ships.items():
            self._send(self._targets(name)[place], ship.flush(), outcome)
        return outcome

    def settled(self) -> None:
        """Hear that nothing is under way any more."""
        self._dead.clear()

    @property
    def state_bytes(self) -> int:
        held = [each.state_bytes for each in self._operators.values()] + [each.state_bytes for each in self._ships.values()]
        return sum(held)

    def _outputs(self) -> Mapping[str, tuple[Target, ...]]:
        return {name: stage.targets for name, stage in self._plan.stages.items()} | {VIEW: self._plan.targets}

    def _targets(self, name: str) -> tuple[Target, ...]:
        relation = self._plan.relations.get(name)
        return relation.targets if relation else self._outputs()[name]

    def _forget(self, variables: frozenset[int], outcome: Outcome) -> None:
        self._dead |= variables
        for (name, place), ship in self._ships.items():
            self._send(self._targets(name)[place], ship.forget(variables), outcome)
        # All operators forget before any of them hears what takes the place of rows that are gone.
        replaced = [(name, operator.forget(variables)) for name, operator in self._operators.items()]
        self._run([each for name, updates in replaced for each in self._routed(name, self._targets(name), updates, outcome)], outcome)

    def _run(self, deliveries: Iterable[Delivery], outcome: Outcome) -> None:
        """Process updates and what follows from them at this node, in the order in which they come."""
        waiting = deque(deliveries)
        while waiting:
            delivery = waiting.popleft()
            outputs = self._operators[delivery.operator].process(delivery.port, delivery.update)
            waiting.extend(self._routed(delivery.operator, self._targets(delivery.operator), outputs, outcome))

    def _routed(self, name: str, targets: tuple[Target, ...], outputs: Sequence[Output], outcome: Outcome) -> list[Delivery]:
        """Send the output of an operator on, and return what is for this node."""
        own: list[Delivery] = []
        for output in outputs:
            if isinstance(output, Deletion):
                outcome.expired.update(output.variables)
                continue
            for place, target in enumerate(targets):
                row = target.made(output.row) if target.made else output.row
                if row is None:
                    continue
                update = Update(output.kind, row, output.provenance)
                if target.column is None or self._place(row[target.column]) == self._number:
                    own.append(Delivery(target.operator, target.port, update))
                else:
                    self._send(target, self._ships[name, place].process(update), outcome)
        return own

    def _send(self, target: Target, updates: Sequence[Update], outcome: Outcome) -> None:
        """Put updates into the parcels of the nodes where they belong, none of which is this one."""
        for update in updates:
            to = self._place(update.row[target.column or 0])
            outcome.parcels.setdefault(to, []).append(Delivery(target.operator, target.port, update))
