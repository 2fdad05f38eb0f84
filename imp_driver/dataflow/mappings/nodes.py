"""Operators wired to each other: each reads nodes before it, so one pass in their order is a step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from imp_driver.dataflow.mappings.operator import Delta, Operator
from imp_driver.sparql.algebra import Variable


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """An operator, the numbers of the nodes that it reads, and the variables that all of its solutions bind."""

    operator: Operator
    inputs: tuple[int, ...]
    certain: frozenset[Variable]


class Nodes:
    """Nodes in the order in which they are stepped."""

    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._deltas: list[Delta] = []

    def put(self, operator: Operator, inputs: Sequence[int] = (), certain: Iterable[Variable] = ()) -> int:
        """Return the number of a new node."""
        self._nodes.append(Node(operator, tuple(inputs), frozenset(certain)))
        return len(self._nodes) - 1

    def certain(self, number: int) -> frozenset[Variable]:
        return self._nodes[number].certain

    def variables(self, number: int) -> tuple[Variable, ...]:
        return self._nodes[number].operator.variables

    @property
    def size(self) -> int:
        return sum(node.operator.size for node in self._nodes)

    def step(self) -> Sequence[Delta]:
        """Return how each node's solutions change now that the graphs have."""
        is_first, deltas = not self._deltas, list[Delta]()
        for node in self._nodes:
            inputs = [deltas[number] for number in node.inputs]
            # Some have solutions of nothing; all others do nothing about nothing.
            deltas.append(node.operator.step(inputs) if is_first or not inputs or any(inputs) else {})
        self._deltas = deltas
        return deltas
