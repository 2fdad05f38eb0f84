"""A plan -> what tells the rows of an operator from any other's, whatever its attributes are called."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from sqlglot import exp

from imp_driver.plan.attributes import identifiers, substituted
from imp_driver.plan.nodes import Attribute, Plan, Recurrence, Recursive, Scan
from imp_driver.values.bounded_cache import BoundedCache

_TEXTS: BoundedCache[int, tuple[exp.Expr, Sequence[str], str]] = BoundedCache(2_000)
"""By the ``id`` of an expression, which is held so that no other one has it."""
_SIGNATURES: BoundedCache[int, tuple[Plan, str]] = BoundedCache(500)
"""By the ``id`` of a plan, likewise: one without markers is the same object each time that its text is asked."""


def signature(plan: Plan) -> str:
    """Return the same text for two plans only where both have the same rows, in tables of the same versions and under the same settings."""
    known = _SIGNATURES.get(id(plan))
    if known is None or known[0] is not plan:
        known = _SIGNATURES[id(plan)] = plan, hashlib.sha256(repr(_described(plan, {})).encode()).hexdigest()
    return known[1]


def _described(part: Any, numbers: dict[str, str]) -> object:
    """Return the structure of a part of a plan, its attributes numbered in the order in which they come."""
    if isinstance(part, Scan):
        return "Scan", part.table, [(each.name, _number(each.identifier, numbers)) for each in part.output]
    if isinstance(part, (Recurrence, Recursive)):
        name = _number(f"relation {part.number}", numbers)
        return type(part).__name__, name, [_described(getattr(part, each.name), numbers) for each in fields(part) if each.name != "number"]
    if isinstance(part, Attribute):
        return _number(part.identifier, numbers), part.type_name
    if isinstance(part, exp.Expr):
        names, text = _written(part)
        return text, [_number(name, numbers) for name in names]
    if isinstance(part, tuple):
        return [_described(each, numbers) for each in part]
    if hasattr(part, "__dataclass_fields__"):
        # What stands below comes first, so that its attributes have their numbers.
        own = sorted(fields(part), key=lambda field: not _is_input(getattr(part, field.name)))
        return type(part).__name__, [(field.name, _described(getattr(part, field.name), numbers)) for field in own]
    return part


def _written(expression: exp.Expr) -> tuple[Sequence[str], str]:
    """Return the columns that an expression reads, and its text in which they have their places among these as names.

    What no value is put into stays the same object from one reading of a query to the next, and is written once.
    """
    known = _TEXTS.get(id(expression))
    if known is None or known[0] is not expression:
        names = sorted(identifiers(expression))
        places = {name: exp.column(f"a{place}") for place, name in enumerate(names)}
        # By its full structure: equality of nodes leaves away what it takes for spelling.
        known = _TEXTS[id(expression)] = expression, names, repr(substituted(expression, places))
    return known[1:]


def _is_input(value: object) -> bool:
    first = value[0] if isinstance(value, tuple) and value else value
    return hasattr(first, "__dataclass_fields__") and not isinstance(first, Attribute)


def _number(identifier: str, numbers: dict[str, str]) -> str:
    return numbers.setdefault(identifier, f"a{len(numbers)}")
