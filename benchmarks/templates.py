"""Queries with places for constants, and how these are drawn: the next instance of a template is the same text with other constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

Draw: TypeAlias = Callable[[Random, float], Mapping[str, object]]
"""Draws values by name, at a scale factor."""


@dataclass(frozen=True, slots=True)
class Template:
    """A query with places.

    Attributes:
        text: Spark SQL with a place in braces for each drawn value.
        order: positions of the output columns that ORDER BY names, in its order; empty without one.
        limit: the most rows; ``order`` may tie where it ends, and then any of the rows that tie are right.
    """

    name: str
    text: str
    draw: Draw
    order: tuple[int, ...] = ()
    limit: int | None = None

    def instance(self, chance: Random, scale: float) -> str:
        """Return the text with constants drawn anew."""
        return self.text.format(**self.draw(chance, scale))


def nothing(chance: Random, scale: float) -> Mapping[str, object]:
    """Draw no constant."""
    return {}
