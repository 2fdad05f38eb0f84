"""Solutions, and whether two lots of them are the same: as bags, or in their order, under some renaming of new blank nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import TypeAlias

from imp_driver.sparql import terms
from imp_driver.sparql.terms import XSD, Term

Row: TypeAlias = tuple[Term | None, ...]
TRIPLE = ("subject", "predicate", "object")
INTEGERS = frozenset(
    XSD + name
    for name in (
        *("integer", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger"),
        *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
)
_DIGITS = Context(prec=15)
MOST_TRIED = 200_000
"""Pairs of rows that are tried to find a renaming; more are an error."""


@dataclass(frozen=True, slots=True)
class Solutions:
    """What a query tells; ASK has one row without columns for yes, and none for no; triples have the columns ``TRIPLE``."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def of(self, columns: Sequence[str]) -> Solutions:
        """Return the solutions with columns in another order; those that are not there bind nothing."""
        places = [self.columns.index(name) if name in self.columns else None for name in columns]
        rows = tuple(tuple(None if place is None else row[place] for place in places) for row in self.rows)
        return replace(self, columns=tuple(columns), rows=rows)


def are_same(
    found: Solutions, expected: Solutions, fixed: Collection[Term] = (), *, ordered_by: Sequence[str] = (), is_lax: bool = False
) -> bool:
    """Return whether solutions are the same.

    Numbers, booleans and times are the same where type and value are, however they are written.

    Args:
        fixed: blank nodes that have the same labels in both.
        ordered_by: columns by which rows are in an order; rows that these do not tell apart may come in any.
        is_lax: whether each solution may come as often as it likes, but at least once.
    """
    if set(found.columns) != set(expected.columns):
        return False
    left = [tuple(map(_value, row)) for row in found.rows]
    right = [tuple(map(_value, row)) for row in expected.of(found.columns).rows]
    if is_lax:
        return set(left) == set(right)
    keys = [place for place, name in enumerate(found.columns) if name in ordered_by]
    sequences = [_signs(([row[place] for place in keys] for row in rows), frozenset(fixed)) for rows in (left, right)]
    return sequences[0] == sequences[1] and _are_same_bags(left, right, frozenset(fixed))


def _are_same_bags(left: list[Row], right: list[Row], fixed: frozenset[Term]) -> bool:
    if Counter(left) == Counter(right):
        return True
    signs = _signs(left, fixed), _signs(right, fixed)
    if Counter(signs[0]) != Counter(signs[1]):
        return False
    alike: dict[Row, list[Row]] = {}
    for sign, row in zip(signs[1], right, strict=True):
        alike.setdefault(sign, []).append(row)
    # Rows with fewest choices first.
    order = sorted(range(len(left)), key=lambda place: len(alike[signs[0][place]]))
    return _can_be_renamed([left[place] for place in order], [alike[signs[0][place]] for place in order], fixed)


def _signs(rows: Iterable[Sequence[Term | None]], fixed: frozenset[Term]) -> list[Row]:
    return [tuple("_:" if _is_free(each, fixed) else each for each in row) for row in rows]


def _is_free(value: Term | None, fixed: frozenset[Term]) -> bool:
    return value is not None and value.startswith("_:") and value not in fixed


def _can_be_renamed(left: Sequence[Row], choices: Sequence[list[Row]], fixed: frozenset[Term]) -> bool:
    """Return whether one renaming of blank nodes makes each row one of its choices, each choice taken once."""
    tried = 0

    def extended(there: dict[Term, Term], back: dict[Term, Term], row: Row, other: Row) -> tuple[dict[Term, Term], dict[Term, Term]] | None:
        there, back = dict(there), dict(back)
        for one, two in zip(row, other, strict=True):
            if one is None or two is None or not _is_free(one, fixed) or not _is_free(two, fixed):
                if one != two:
                    return None
            elif there.setdefault(one, two) != two or back.setdefault(two, one) != one:
                return None
        return there, back

    def search(place: int, there: dict[Term, Term], back: dict[Term, Term], taken: Counter[Row]) -> bool:
        nonlocal tried
        if place == len(left):
            return True
        for other, number in Counter(choices[place]).items():
            tried += 1
            if tried > MOST_TRIED:
                raise ValueError(f"more than {MOST_TRIED} pairs of rows were tried to find a renaming of blank nodes")
            is_single = len(choices[place]) == 1
            if (not is_single and taken[other] >= number) or (more := extended(there, back, left[place], other)) is None:
                continue
            if search(place + 1, *more, taken if is_single else taken + Counter([other])):
                return True
        return False

    return search(0, {}, {}, Counter())


@lru_cache(maxsize=100_000)
def _value(value: Term | None) -> Term | None:
    """Return a number, boolean or time as all that are equal to it and of its type are written; other terms as they are."""
    if value is None or not value.startswith('"') or (datatype := terms.datatype(value)) is None:
        return value
    text = terms.lexical(value)
    if datatype in INTEGERS or datatype == XSD + "decimal":
        # Quotients have as many digits as an engine likes.
        return value if (number := _decimal(text)) is None else terms.literal(f"{number.normalize(_DIGITS):f}", datatype)
    if datatype in (XSD + "double", XSD + "float"):
        # Sums of another order differ in their last digits.
        return value if (number := _decimal(text)) is None else terms.literal(f"{float(number):.6e}", datatype)
    if datatype == XSD + "boolean":
        return terms.literal({"1": "true", "0": "false"}.get(text, text), datatype)
    if datatype in (XSD + "date", XSD + "dateTime"):
        return terms.literal(re.sub(r"[+-]00:00$", "Z", text), datatype)
    return value


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
