"""Operators wired to each other: each reads nodes before it, so one pass in their order is a step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from imp_driver.dataflow.mappings.operator import NOTHING, Delta, Limits, NotMaintained, Operator
from imp_driver.sparql.algebra import Variable


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """An operator, its kind, and the numbers of the nodes that it reads; ``reads_graphs`` where it looks at triples beside these."""

    operator: Operator
    kind: str
    inputs: tuple[int, ...]
    reads_graphs: bool


class Nodes:
    """Nodes in the order in which they are stepped.

    Attributes:
        seconds: what all steps have taken, by kind of operator.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._nodes: list[Node] = []
        self._deltas: list[Delta] = []
        self.seconds = defaultdict[str, float](float)

    def put(self, operator: Operator, inputs: Sequence[int] = (), *, reads_graphs: bool = False) -> int:
        """Return the number of a new node."""
        self._nodes.append(Node(operator, type(operator).__name__.removesuffix("Operator"), tuple(inputs), reads_graphs))
        return len(self._nodes) - 1

    def variables(self, number: int) -> tuple[Variable, ...]:
        return self._nodes[number].operator.variables

    @property
    def size(self) -> int:
        return sum(node.operator.size for node in self._nodes)

    def step(self) -> Sequence[Delta]:
        """Return how each node's solutions change now that the graphs have. Raises NotMaintained where they become too many."""
        is_first, deltas = not self._deltas, list[Delta]()
        for node in self._nodes:
            inputs = [deltas[number] for number in node.inputs]
            # At first some have solutions of nothing; later all do nothing about nothing.
            if is_first or node.reads_graphs or any(inputs):
                begin = perf_counter()
                deltas.append(node.operator.step(inputs))
                self.seconds[node.kind] += perf_counter() - begin
            else:
                deltas.append(NOTHING)
            if deltas[-1]:
                self._limits.check()
                if len(deltas[-1]) > self._limits.most:
                    raise NotMaintained(f"One operator would have more than {self._limits.most} solutions.")
        self._deltas = deltas
        return deltas
