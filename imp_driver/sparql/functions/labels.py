"""BNODE of a text: one node for a text and a solution, in all expressions over this solution. Source: section 17.4.2.9."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, TypeVar

from imp_driver.sparql.algebra import Call, Exists, Expression, Extend, Filter, Pattern, Read, Variable
from imp_driver.sparql.parts import rebuilt, within

PartT = TypeVar("PartT")
_NAME = "BNODE"


def with_labels(part: PartT) -> PartT:
    """Return a pattern in which expressions over one solution make the same node of the same text.

    Below those that make some the solution gets a hidden node of its own, from which together with the text all of them make theirs.
    """
    numbers = count()
    found: PartT = _with(part, numbers)
    return found


def _with(part: Any, numbers: Iterator[int]) -> Any:
    if not isinstance(part, (Extend, Filter)) or sum(map(_labelled, _expressions(part))) < 2:
        return rebuilt(part, lambda each: _with(each, numbers))
    hidden = Variable(f"_:solution{next(numbers)}")
    return _chain(part, hidden, numbers)


def _chain(pattern: Pattern, hidden: Variable, numbers: Iterator[int]) -> Pattern:
    """Return EXTEND and FILTER of one solution above each other, which has its own node below them."""
    match pattern:
        case Extend(inner, variable, expression):
            return Extend(_chain(inner, hidden, numbers), variable, _named(expression, hidden, numbers))
        case Filter(inner, condition):
            return Filter(_chain(inner, hidden, numbers), _named(condition, hidden, numbers))
        case _:
            base: Pattern = _with(pattern, numbers)
            return Extend(base, hidden, Call(_NAME))


def _expressions(pattern: Pattern) -> Iterator[Expression]:
    while isinstance(pattern, (Extend, Filter)):
        yield pattern.expression if isinstance(pattern, Extend) else pattern.condition
        pattern = pattern.pattern


def _labelled(part: object) -> int:
    """Return how often an expression makes a node of a text; EXISTS has solutions of its own."""
    if isinstance(part, Exists):
        return 0
    is_one = isinstance(part, Call) and part.name == _NAME and len(part.arguments) == 1
    return is_one + sum(map(_labelled, within(part)))


def _named(part: Any, hidden: Variable, numbers: Iterator[int]) -> Any:
    if isinstance(part, Exists):
        return _with(part, numbers)
    found = rebuilt(part, lambda each: _named(each, hidden, numbers))
    if isinstance(found, Call) and found.name == _NAME and len(found.arguments) == 1:
        return Call(_NAME, (*found.arguments, Read(hidden)))
    return found
