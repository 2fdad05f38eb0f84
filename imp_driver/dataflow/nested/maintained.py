"""Which way a description is followed, by its form alone; ``SelectionSums`` turns from descents to masks by itself, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from imp_driver.dataflow.nested.conditions import compiled
from imp_driver.dataflow.nested.description import Product, Row, Selection, Strategy
from imp_driver.dataflow.nested.equality_map import EqualityMap
from imp_driver.dataflow.nested.products import ProductSums
from imp_driver.dataflow.nested.selections import SelectionSums, SignedRow
from imp_driver.dataflow.nested.shifted_index import ShiftedIndex
from imp_driver.dataflow.nested.sides import Correlated, Fixed
from imp_driver.dataflow.nested.told import Change, Results


class Maintained(Protocol):
    """Sums that follow changes of rows."""

    def change(self, relation: str, row: Row, weight: int) -> None:
        """Follow one row, which comes ``weight`` times or, where that is negative, goes."""

    def apply(self, changes: Mapping[str, Iterable[SignedRow]]) -> None:
        """Follow the rows of a batch, by relation."""

    def results(self) -> Results:
        """Return the sums of each group, None for those of nothing; without GROUP BY there is one group, ``()``, also of no rows."""

    def changed(self) -> dict[Any, Change]:
        """Return the rows of those groups whose results differ from when this was asked last, as they were and as they are."""

    @property
    def memory(self) -> int:
        """Bytes, estimated."""


def maintained(description: Selection | Product, strategy: Strategy | None = None) -> Maintained:
    """Return what follows a description, in the best way or in one that is asked for.

    Raises:
        ValueError: the description makes no sense, or cannot be followed in the way that is asked for; the message says why.
    """
    strategy = best(description) if strategy is None else strategy
    if isinstance(description, Product):
        if strategy not in (Strategy.PREFIX_DESCENT, Strategy.GENERAL):
            raise ValueError(f"a product is followed by prefix descents or the general way, not by {strategy.value}")
        return ProductSums(description, strategy)
    if strategy is Strategy.EQUALITY_MAP:
        return EqualityMap(description)
    if strategy in (Strategy.RPAI_TREE, Strategy.PAI_MAP):
        return ShiftedIndex(description, strategy)
    return SelectionSums(description, strategy)


def best(description: Selection | Product) -> Strategy:
    """Return the way whose steps are the cheapest for a description of this form.

    Raises:
        ValueError: the description makes no sense; the message says why.
    """
    if isinstance(description, Product):
        return Strategy.PREFIX_DESCENT
    program = compiled(description)
    if len(program.conditions) == 1:
        [condition] = program.conditions
        if isinstance(condition.left, Fixed) and isinstance(condition.right, Fixed):
            partitioned = [
                side.place >= 0 and program.inners[side.place].partition is not None for side in (condition.left, condition.right)
            ]
            shared = condition.right if partitioned[0] else condition.left
            # Against a constant a change touches one partition alone: then there is nothing to look up.
            if sum(partitioned) == 1 and shared.place >= 0:
                return Strategy.EQUALITY_MAP
    sides = [side for condition in program.conditions for side in (condition.left, condition.right)]
    is_masked = any(isinstance(side, Correlated) and side.window is not None and side.window.needs_outermost for side in sides)
    return Strategy.GENERAL if is_masked else Strategy.PREFIX_DESCENT
