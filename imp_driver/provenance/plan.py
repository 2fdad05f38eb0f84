"""How the operators of a distributed recursion are wired: the same at every node, as in figure 4 of the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.fixpoint import Fixpoint
from imp_driver.provenance.selection import Selecting
from imp_driver.provenance.updates import Operator


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Where rows go.

    Attributes:
        operator, port: which input of which operator.
        column: the rows are shipped to the node where the value of this column belongs; None if they stay.
        made: makes the row that goes there, or None where none goes.
        selecting: makes a selection in front of what ships the rows, if that is MinShip.
    """

    operator: str
    port: int
    column: int | None = None
    made: Callable[[Row], Row | None] | None = None
    selecting: Selecting | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BaseRelation:
    """A relation whose rows come from outside, to the node where the value of a column belongs.

    Attributes:
        is_certain: its rows are never deleted and have no variables.
    """

    targets: tuple[Target, ...]
    column: int = 0
    is_certain: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """An operator, and where its output goes."""

    make: Callable[[Diagrams], Operator]
    targets: tuple[Target, ...]


VIEW = "view"
"""The name of the fixpoint among the operators of a plan."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A recursion.

    Attributes:
        relations, stages: base relations and operators by their names, which are all different.
        fixpoint: makes the operator that holds the view, which targets know as VIEW.
        targets: where the changes of the view go.
    """

    relations: Mapping[str, BaseRelation]
    stages: Mapping[str, Stage]
    fixpoint: Callable[[Diagrams], Fixpoint]
    targets: tuple[Target, ...]
