"""Why a row of a recursion is there: the minimal sets of rows that it is given from which it follows (absorption provenance).

Source: sections 4 to 6 of the paper on recursive views. Beyond a number of nodes the recursion goes on with levels alone, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.dataflow.recursion.levels import RowChanges
from imp_driver.dataflow.recursion.rules import Rule
from imp_driver.errors import NotSupportedError
from imp_driver.provenance.absorption import Absorption
from imp_driver.provenance.base_rows import Fact
from imp_driver.provenance.diagrams import Diagrams, TooManyNodes

MOST_NODES = 200_000
"""Of the diagrams of one recursion."""


class Provenance:
    """The annotations of a recursion; ``lost`` says why there are none any more, ``is_outgrown`` whether other rows may have fewer."""

    def __init__(self, rules: Sequence[Rule], most_nodes: int = MOST_NODES) -> None:
        self._most_nodes = most_nodes
        self._absorption: Absorption | None = None
        self.lost = ""
        self.is_outgrown = False
        try:
            self._absorption = Absorption(rules, Diagrams(limit=most_nodes))
        except NotSupportedError as error:
            # The rows are there all the same.
            self.lost = str(error)

    def follow(self, changes: Mapping[int, RowChanges]) -> None:
        """Take in changes of what the recursion is given."""
        if self._absorption is None:
            return
        gone = [(relation, row) for relation, change in changes.items() for row in change.removed]
        new = [(relation, row) for relation, change in changes.items() for row in change.added]
        try:
            self._absorption.apply(gone, new)
        except TooManyNodes:
            self._absorption, self.is_outgrown = None, True
            self.lost = f"its provenance needs more than {self._most_nodes} nodes; the view goes on without it"

    def why(self, row: Row) -> Iterator[Sequence[Fact]]:
        """Yield the minimal sets of given rows from which a row of the first relation follows, smaller ones first."""
        if self._absorption is not None:
            for found in self._absorption.why(0, row):
                yield sorted(found, key=repr)
