"""What operators of a distributed recursion say to each other (section 3.1 of the paper), and what an operator is.

A deletion of base rows is a set of variables that are false from now on; every operator restricts what it holds by it. The paper's
operators take a deleted derivation away by ``x AND NOT y`` instead, which is something else: of ``p OR q`` it leaves ``q AND NOT p``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeAlias

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.provenance.library import Function


class Kind(Enum):
    """INSERT adds a derivation to a row. RETRACT tells the same node that a row is not among the best any more, though it is derived."""

    INSERT = "insert"
    RETRACT = "retract"


@dataclass(frozen=True, slots=True, eq=False)
class Update:
    """A row, and the function of base rows from which it was derived this time; that of a RETRACT says nothing."""

    kind: Kind
    row: Row
    provenance: Function


@dataclass(frozen=True, slots=True)
class Deletion:
    """Variables of base rows that are gone."""

    variables: frozenset[int]


Output: TypeAlias = Update | Deletion
"""What an operator gives: updates, and deletions where base rows expire in it."""


class Operator(Protocol):
    """One operator at one node."""

    def process(self, port: int, update: Update) -> Sequence[Output]:
        """Take an update of one of the inputs, which are numbered, and return what follows."""

    def forget(self, variables: frozenset[int]) -> Sequence[Update]:
        """Make variables false in all that is held, and return what takes the place of rows that are gone."""

    @property
    def state_bytes(self) -> int:
        """About the memory of what is held."""
