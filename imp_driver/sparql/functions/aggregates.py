"""Aggregates of SPARQL 1.1 (sections 11 and 18.5.1) over multisets that change: values come with counts, which are negative where they go.

What a result depends on is the multiset alone, not the order in which it came to be: SAMPLE is the first term by the order of ORDER BY,
GROUP_CONCAT has its texts in that order, and sums of doubles are exact before they are rounded.
"""

from __future__ import annotations

from collections.abc import Hashable
from decimal import Decimal
from typing import Final, Protocol

from imp_driver.sparql.algebra import Aggregate
from imp_driver.sparql.functions.arithmetic import quotient
from imp_driver.sparql.functions.exact_sums import ExactSum
from imp_driver.sparql.functions.numerals import RANKS, promoted
from imp_driver.sparql.functions.sorted_counts import SortedCounts
from imp_driver.sparql.functions.values import number, term_of
from imp_driver.sparql.terms import Term, lexical, literal

_ZERO: Final = term_of(0)


class Accumulator(Protocol):
    """An aggregate of one group."""

    def add(self, value: Term | None, count: int) -> None:
        """Take ``count`` more of a value; None where the expression was an error, or unbound."""

    def result(self) -> Term | None:
        """Return the aggregate of the values that are there; None where it is an error."""


def accumulator(aggregate: Aggregate) -> Accumulator:
    """Return an accumulator for an aggregate, of no values yet.

    For COUNT without an argument whatever is added counts, None too; with DISTINCT anything hashable stands for a solution.
    """
    inner: Accumulator
    match aggregate.name:
        case "COUNT":
            inner = _Count(counts_errors=aggregate.argument is None)
        case "SUM":
            inner = _Sum()
        case "AVG":
            inner = _Average()
        case "MIN":
            inner = _Minimum()
        case "MAX":
            inner = _First(is_descending=True)
        case "SAMPLE":
            inner = _First()
        case "GROUP_CONCAT":
            inner = _Concatenation(aggregate.separator)
        case name:
            raise ValueError(f"{name} is no aggregate")
    return _Distinct(inner) if aggregate.is_distinct else inner


class _Count:
    def __init__(self, *, counts_errors: bool) -> None:
        self._counts_errors = counts_errors
        self._count = 0

    def add(self, value: Term | None, count: int) -> None:
        if value is not None or self._counts_errors:
            self._count += count

    def result(self) -> Term | None:
        return term_of(self._count)


class _Sum:
    """SUM; anything but a number makes it an error while it is there."""

    def __init__(self) -> None:
        self._errors = 0
        self._sum = ExactSum()

    def add(self, value: Term | None, count: int) -> None:
        found = None if value is None else number(value)
        if found is None:
            self._errors += count
        else:
            self._sum.add(found, count)

    def result(self) -> Term | None:
        return None if self._errors else term_of(self._sum.total())


class _Average(_Sum):
    """AVG: the sum divided by the count; 0 of nothing."""

    def result(self) -> Term | None:
        if self._errors:
            return None
        count = self._sum.count
        if not count:
            return _ZERO
        total = self._sum.total()
        dividend = Decimal(total) if isinstance(total, int) else total
        found = quotient(dividend, promoted(count, RANKS[type(dividend)]))
        return None if found is None else term_of(found)


class _First:
    """The first term of the order, or the last one, for MAX and SAMPLE: errors are before all terms, and no sample."""

    def __init__(self, *, is_descending: bool = False) -> None:
        self._values = SortedCounts(is_descending=is_descending)

    def add(self, value: Term | None, count: int) -> None:
        if value is not None:
            self._values.add(value, count)

    def result(self) -> Term | None:
        return self._values.first()


class _Minimum(_First):
    """MIN: in the order of ORDER BY what has no value is first (section 15.1), so that one error unbinds it."""

    def __init__(self) -> None:
        super().__init__()
        self._errors = 0

    def add(self, value: Term | None, count: int) -> None:
        if value is None:
            self._errors += count
        else:
            super().add(value, count)

    def result(self) -> Term | None:
        return None if self._errors else super().result()


class _Concatenation:
    """GROUP_CONCAT of the texts that STR gives; an error, or a blank node, which has none, unbinds it."""

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self._errors = 0
        self._values = SortedCounts()
        self._result: Term | None = None

    def add(self, value: Term | None, count: int) -> None:
        self._result = None
        if value is None or value[0] == "_":
            self._errors += count
        else:
            self._values.add(value, count)

    def result(self) -> Term | None:
        if self._errors:
            return None
        if self._result is None:
            self._result = literal(self._separator.join(map(lexical, self._values)))
        return self._result


class _Distinct:
    """Each value once, as terms are told apart: it comes with its first and goes with its last."""

    def __init__(self, inner: Accumulator) -> None:
        self._inner = inner
        self._counts: dict[Hashable, int] = {}

    def add(self, value: Term | None, count: int) -> None:
        before = self._counts.get(value, 0)
        after = before + count
        if after:
            self._counts[value] = after
        else:
            self._counts.pop(value, None)
        if (after > 0) != (before > 0):
            self._inner.add(value, 1 if after > 0 else -1)

    def result(self) -> Term | None:
        return self._inner.result()
