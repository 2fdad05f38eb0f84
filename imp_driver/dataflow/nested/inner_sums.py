"""What is kept of the rows of one inner aggregate, of one partition or of all."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from imp_driver.dataflow.nested.keys import Key
from imp_driver.dataflow.nested.sorted_sums import SortedSums

Quotient: TypeAlias = tuple[Any, Any]
"""A numerator and a denominator above 0."""


class Total:
    """Sum and number of the values of an aggregate without a correlation."""

    __slots__ = ("count", "sum")

    def __init__(self) -> None:
        self.sum: Any = 0
        self.count = 0

    def add(self, key: Key, amount: Any, weight: int) -> None:
        """Add a value with a weight."""
        self.sum += amount * weight
        self.count += weight

    def add_many(self, keys: Sequence[Key], amounts: Sequence[Any], weights: Sequence[int]) -> None:
        """Add values with their weights."""
        self.sum += sum([amount * weight for amount, weight in zip(amounts, weights, strict=True)])
        self.count += sum(weights)

    @property
    def is_empty(self) -> bool:
        return not self.count and not self.sum

    @property
    def memory(self) -> int:
        """Bytes, estimated."""
        return 112


class Sorted:
    """Values of a correlated aggregate by the key that it is correlated by: their sum, and their number as rows."""

    __slots__ = ("sums",)
    SUM, COUNT = 0, 1

    def __init__(self) -> None:
        self.sums = SortedSums(1)

    def add(self, key: Key, amount: Any, weight: int) -> None:
        """Add a value with a weight."""
        self.sums.add_sums(key, (amount * weight, weight))

    def add_many(self, keys: Sequence[Key], amounts: Sequence[Any], weights: Sequence[int]) -> None:
        """Add values with their weights."""
        signed = [amount * weight for amount, weight in zip(amounts, weights, strict=True)]
        self.sums.add_many(keys, [signed], weights)

    @property
    def is_empty(self) -> bool:
        return not len(self.sums)

    @property
    def memory(self) -> int:
        """Bytes, estimated."""
        return self.sums.memory


State: TypeAlias = Total | Sorted


def threshold(numerator: Any, denominator: Any, *, is_whole: bool, is_strict: bool) -> Any:
    """Return what a sum must be above (``is_strict``) or at least, instead of a quotient; whole where sums are."""
    if denominator == 1:
        return numerator
    if not is_whole:
        return Fraction(numerator) / denominator
    return numerator // denominator if is_strict else -(-numerator // denominator)
