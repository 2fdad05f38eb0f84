"""What the parts of one query, or of one update, have in common while they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from imp_driver.errors import ProgrammingError
from imp_driver.sparql.algebra import Node, Pattern, Place, Variable
from imp_driver.sparql.reading.dataset import Dataset
from imp_driver.sparql.reading.names import Names
from imp_driver.sparql.reading.tree import Blank, Leaf, Tree

Select: TypeAlias = Callable[["Context", Tree, Place | None], Pattern]
"""Reads a subquery."""


@dataclass(slots=True)
class Context:
    """Names and graphs, and the hidden variables given so far.

    Hidden variables are ``_:label`` for a blank node of the text and ``_:.1`` for all others, which no label can be.
    """

    names: Names
    dataset: Dataset
    select: Select
    _given: int = 0
    _blocks: int = 0
    _labels: dict[str, int] = field(default_factory=dict)
    _nameless: dict[str, Variable] = field(default_factory=dict)

    def hidden(self) -> Variable:
        """Return a variable that nothing else has."""
        self._given += 1
        return Variable(f"_:.{self._given}")

    def begin_block(self) -> None:
        """Begin a basic graph pattern, to which labels of blank nodes belong."""
        self._blocks += 1

    def node(self, leaf: Leaf) -> Node:
        """Return the node of a triple of the present basic graph pattern.

        Raises:
            ProgrammingError: another basic graph pattern has the label of a blank node (section 19.6).
        """
        if isinstance(leaf, Blank) and leaf.is_named and self._labels.setdefault(leaf.label, self._blocks) != self._blocks:
            raise ProgrammingError(f"_:{leaf.label} stands in two basic graph patterns: use a variable, or another label in one of them")
        return self.template_node(leaf)

    def template_node(self, leaf: Leaf) -> Node:
        """Return the node of a triple of a template: blank nodes are hidden variables, which no solution binds."""
        match leaf:
            case Variable():
                return leaf
            case Blank(label, True):
                return Variable(f"_:{label}")
            case Blank(label):
                if label not in self._nameless:
                    self._nameless[label] = self.hidden()
                return self._nameless[label]
            case _:
                return self.names.term(leaf)
