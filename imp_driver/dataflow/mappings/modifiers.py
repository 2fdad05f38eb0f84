"""What is asked of solutions as a list: ORDER BY, projection, DISTINCT, OFFSET and LIMIT (SPARQL 1.1, section 15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from imp_driver.dataflow.mappings.expressions import existences, read_by, value
from imp_driver.dataflow.mappings.operator import Row, spreading
from imp_driver.sparql.algebra import Distinct, Expression, Extend, OrderBy, Pattern, Project, Read, Slice, Variable, variables
from imp_driver.sparql.functions.order import order_key

Condition: TypeAlias = tuple[Expression, bool]


@dataclass(frozen=True, slots=True)
class Modifiers:
    """The modifiers of one SELECT, taken off the pattern that they are about.

    Attributes:
        pattern: what has the solutions, without any of them.
        conditions: of ORDER BY, each with whether it is DESC.
        projected: what is selected; None where no projection is among the modifiers.
    """

    pattern: Pattern
    conditions: tuple[Condition, ...] = ()
    projected: tuple[Variable, ...] | None = None
    is_distinct: bool = False
    offset: int = 0
    limit: int | None = None

    @property
    def is_cut(self) -> bool:
        return self.offset > 0 or self.limit is not None

    @property
    def columns(self) -> tuple[Variable, ...]:
        """What the list shows: what is selected, or all but hidden variables."""
        if self.projected is not None:
            return self.projected
        return tuple(variable for variable in variables(self.pattern) if not variable.is_hidden)

    @property
    def is_by_columns(self) -> bool:
        """Whether the order reads nothing but what the list shows."""
        return all(frozenset(read_by(expression)) <= frozenset(self.columns) for expression, _ in self.conditions)


def modifiers_of(pattern: Pattern) -> Modifiers:
    """Return the modifiers at the top of a pattern, as one SELECT has them."""
    offset, limit, is_distinct = 0, None, False
    conditions: tuple[Condition, ...] = ()
    projected: tuple[Variable, ...] | None = None
    if isinstance(pattern, Slice):
        offset, limit, pattern = pattern.offset, pattern.limit, pattern.pattern
    if isinstance(pattern, Distinct):
        pattern, is_distinct = pattern.pattern, True
    if isinstance(pattern, Project):
        projected, pattern = pattern.variables, pattern.pattern
    if isinstance(pattern, OrderBy):
        conditions, pattern = _without_existences(pattern.conditions, pattern.pattern)
    return Modifiers(pattern, conditions, projected, is_distinct, offset, limit)


def _without_existences(conditions: tuple[Condition, ...], pattern: Pattern) -> tuple[tuple[Condition, ...], Pattern]:
    """Have what the order reads of other patterns as a variable, so that what is sorted has all that decides."""
    found = list[Condition]()
    for place, (expression, is_descending) in enumerate(conditions):
        if any(existences(expression)):
            name = Variable(f"_:order {place}")
            expression, pattern = Read(name), Extend(pattern, name, expression)
        found.append((expression, is_descending))
    return tuple(found), pattern


class Lister:
    """Makes the list of solutions over some variables. Ties stand by all columns of the list, then by all variables."""

    def __init__(self, modifiers: Modifiers, own: Sequence[Variable]) -> None:
        self._modifiers = modifiers
        self._take = spreading(own, modifiers.columns)
        self._keys = [(value(expression, own), is_descending) for expression, is_descending in modifiers.conditions]

    def listed(self, rows: Mapping[Row, int]) -> list[Row]:
        """Return the list, each solution as often as it counts."""
        take, modifiers = self._take, self._modifiers
        ordered = sorted(((take(row), row, count) for row, count in rows.items()), key=lambda each: (_by_text(each[0]), _by_text(each[1])))
        for value_of, is_descending in reversed(self._keys):
            ordered.sort(key=_by(value_of), reverse=is_descending)
        if modifiers.is_distinct:
            found = list(dict.fromkeys(short for short, _, _ in ordered))
        else:
            found = [short for short, _, count in ordered for _ in range(count)]
        end = None if modifiers.limit is None else modifiers.offset + modifiers.limit
        return found[modifiers.offset : end]


def _by(value_of: Callable[[Row], str | None]) -> Callable[[tuple[Row, Row, int]], Any]:
    return lambda each: order_key(value_of(each[1]))


def _by_text(row: Row) -> tuple[str, ...]:
    # No term is empty, so that unbound ones are first and equal to no other.
    return tuple(["" if term is None else term for term in row])
