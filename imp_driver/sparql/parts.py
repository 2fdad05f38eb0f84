"""What a query, or any part of one, is made of, and which tables it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from imp_driver.sparql.algebra import EachNamed, Source


def within(part: object) -> Iterator[object]:
    """Yield the values that stand directly in a value of the algebra, or in a tuple of some."""
    if isinstance(part, tuple):
        yield from part
    elif is_dataclass(part):
        yield from (getattr(part, field.name) for field in fields(part))


def every(part: object) -> Iterator[object]:
    """Yield a value of the algebra and all values in it, in the order in which they stand."""
    waiting = [part]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += reversed(list(within(each)))


def rebuilt(part: Any, change: Callable[[Any], Any]) -> Any:
    """Return a value of the algebra, or a tuple of some, with what stands directly in it changed."""
    if isinstance(part, tuple):
        return tuple([change(each) for each in part])
    if is_dataclass(part) and not isinstance(part, type):
        return replace(part, **{field.name: change(getattr(part, field.name)) for field in fields(part)})
    return part


def tables_of(part: object) -> tuple[str, ...]:
    """Return the names of the tables of all graphs that are read, in expressions too, each once."""
    return tuple(dict.fromkeys(name for each in every(part) for name in _named(each)))


def _named(part: object) -> tuple[str, ...]:
    match part:
        case Source(table):
            return (table,)
        case EachNamed(_, tables):
            return tables
        case _:
            return ()
