"""Which tables a pattern reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from imp_driver.sparql.algebra import EachNamed, Pattern, Source


def tables_of(pattern: Pattern) -> tuple[str, ...]:
    """Return the names of the tables of all graphs that a pattern reads, in expressions too, each once."""
    return tuple(dict.fromkeys(_tables(pattern)))


def _tables(value: object) -> Iterator[str]:
    match value:
        case Source(table):
            yield table
        case EachNamed(_, tables, sources):
            yield from tables
            yield from (source.table for _, source in sources)
        case tuple():
            for each in value:
                yield from _tables(each)
        case _ if is_dataclass(value):
            for field in fields(value):
                yield from _tables(getattr(value, field.name))
