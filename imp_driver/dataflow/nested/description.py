"""What is maintained, said by values: sums of rows that pass conditions, in which aggregates of other rows appear.

Rows are tuples of any kind; what is read of them are functions, which give exact numbers (whole numbers, fractions; decimals scaled by
whoever describes them), or None for NULL. SQL's meaning throughout: a sum of nothing is NULL, and a comparison with NULL holds for no row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, StrEnum
from fractions import Fraction
from typing import Any, TypeAlias

Row: TypeAlias = tuple[Any, ...]
Value: TypeAlias = Callable[[Row], Any]
"""Reads something of a row; None is NULL."""


class Comparison(StrEnum):
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="
    EQUAL = "="
    UNEQUAL = "<>"

    @property
    def mirrored(self) -> Comparison:
        """The comparison with its sides exchanged."""
        return _MIRRORED[self]

    @property
    def is_strict(self) -> bool:
        return self in (Comparison.LESS, Comparison.GREATER)

    def holds(self, one: Any, other: Any) -> Any:
        """Compare two numbers, or two vectors of them."""
        match self:
            case Comparison.LESS:
                return one < other
            case Comparison.AT_MOST:
                return one <= other
            case Comparison.GREATER:
                return one > other
            case Comparison.AT_LEAST:
                return one >= other
            case Comparison.EQUAL:
                return one == other
            case Comparison.UNEQUAL:
                return one != other


_MIRRORED = {
    Comparison.LESS: Comparison.GREATER,
    Comparison.AT_MOST: Comparison.AT_LEAST,
    Comparison.GREATER: Comparison.LESS,
    Comparison.AT_LEAST: Comparison.AT_MOST,
    Comparison.EQUAL: Comparison.EQUAL,
    Comparison.UNEQUAL: Comparison.UNEQUAL,
}


class Measure(Enum):
    SUM = "sum"
    COUNT = "count"
    AVERAGE = "average"


class Strategy(Enum):
    """How the rows that pass are found.

    Attributes:
        PREFIX_DESCENT: by descents in sorted sums; logarithmic. Where contributions are negative, or sides of a condition grow together,
            as GENERAL, until they no longer are.
        EQUALITY_MAP: results by the value of a partition's aggregate: what compares with it is the same for all rows.
        RPAI_TREE, PAI_MAP: the indexes of the paper, results by the value of the correlated aggregate; otherwise as PREFIX_DESCENT.
        GENERAL: the condition is evaluated for every distinct key, by vectors; linear.
    """

    PREFIX_DESCENT = "prefix descent"
    EQUALITY_MAP = "equality map"
    RPAI_TREE = "RPAI tree"
    PAI_MAP = "PAI map"
    GENERAL = "general"


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that is the same for all rows; None is NULL."""

    value: Fraction | int | None


@dataclass(frozen=True, slots=True)
class KeyMultiple:
    """A multiple of what the rows around are ordered by (``Selection.key``), a whole number or fraction."""

    factor: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class Correlation:
    """Which rows an inner aggregate has: those whose value compares with the key of the row around it.

    Attributes:
        value: of the inner row; one that is NULL is in no aggregate.
        comparison: ``value comparison key``; not EQUAL, which is a partition, and not UNEQUAL.
        is_outermost: the key is that of the outermost row, not of the row around: only in ``Inner.within``.
    """

    value: Value
    comparison: Comparison
    is_outermost: bool = False


@dataclass(frozen=True, slots=True)
class Inner:
    """An aggregate of a relation's rows, multiplied by a factor.

    Attributes:
        argument: what is aggregated; None for COUNT(*).
        partition: the rows are those in which this value is that of ``Selection.partition``; None where the aggregate has all rows.
        within: a condition on the inner rows themselves; its key is ``correlation.value``. Needs a correlation.
        is_zero_when_empty: COALESCE(.., 0) around the aggregate.
    """

    relation: str
    measure: Measure
    argument: Value | None = None
    factor: Fraction = Fraction(1)
    correlation: Correlation | None = None
    partition: Value | None = None
    within: Condition | None = None
    is_zero_when_empty: bool = False


Side: TypeAlias = Constant | KeyMultiple | Inner


@dataclass(frozen=True, slots=True)
class Condition:
    left: Side
    comparison: Comparison
    right: Side


@dataclass(frozen=True, slots=True)
class Selection:
    """SUMs of the rows of one relation that pass all conditions.

    Attributes:
        values: what is summed.
        conditions: any number; none lets all rows pass.
        key: what correlations and ``KeyMultiple`` compare with; None where no condition asks for it.
        partition: what the partitions of inner aggregates compare with.
        group: GROUP BY; None for one result of all rows.
    """

    relation: str
    values: tuple[Value, ...]
    conditions: tuple[Condition, ...] = ()
    key: Value | None = None
    partition: Value | None = None
    group: Value | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """A product of sums, one value of each side or None where a side does not appear in it."""

    coefficient: Fraction | int
    values: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """SUM of a sum of terms over all combinations of rows of several selections (a cross join), which factors into sums of each side.

    Each side's values are NULL together, where a row has one that is NULL. At most one side has groups.
    """

    sides: tuple[Selection, ...]
    terms: tuple[Term, ...]
