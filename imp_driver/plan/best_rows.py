"""What is followed of a recursion where not all of its rows are (``best.py`` says where that is enough)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Best:
    """Rows of a recursion that are enough: in each group those that have one of the ``most`` best different measures.

    Attributes:
        group, measure: places of columns; ``greatest`` is better, else the least, NULL last or, by ``nulls_first``, first.
        kept: places of the columns that are read.
        is_strict: whether rows are read, not the measure alone, so that rows which tie must follow from rows that tie.
        needs_values: whether it holds only where no measure is NULL: LEAST and GREATEST leave it away, ranks show rows that tie by it.
    """

    group: tuple[int, ...]
    measure: int
    greatest: bool
    most: int = 1
    nulls_first: bool = False
    kept: tuple[int, ...] = ()
    is_strict: bool = False
    needs_values: bool = False
