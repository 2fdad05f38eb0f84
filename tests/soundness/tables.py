"""Tiny random tables: NULLs, duplicates, negative values, ties."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from imp_driver.plan.context import TableDefinition
from imp_driver.reasons import Reason
from imp_driver.safety.intervals import Interval
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import SchemaColumn
from tests.soundness.values import Value

COLUMNS: Mapping[str, tuple[str, ...]] = {"r": ("id", "g", "x", "a"), "s": ("id", "k", "y", "b")}

Database = Mapping[str, Sequence[Mapping[str, Value]]]


class Catalog:
    """The tables of the attack, all columns INT and nullable."""

    def find(self, name: tuple[str, ...]) -> TableDefinition:
        if name[-1].lower() not in COLUMNS:
            raise Refused(Reason.NOT_A_DELTA_TABLE, ".".join(name))
        columns = COLUMNS[name[-1].lower()]
        return TableDefinition((name[-1].lower(),), tuple(SchemaColumn(column, "integer", True) for column in columns))


def random_database(chance: random.Random, *, nonnegative: bool) -> Database:
    """Make tables of a few rows over a small domain, or a tiny one with many ties; ``nonnegative`` holds for the columns a and b."""
    database = {}
    keys, values = chance.choice([(3, 4), (3, 4), (1, 2)])
    for table, columns in COLUMNS.items():
        rows = []
        for number in range(chance.randint(0, 6)):
            row: dict[str, Value] = {"id": number}
            for column in columns[1:]:
                low = 0 if nonnegative or column not in ("a", "b") else -3
                row[column] = None if chance.random() < 0.15 else chance.randint(low, values if column in ("a", "b") else keys)
            rows.append(row)
            if chance.random() < 0.15:
                rows.append(dict(row))
        database[table] = rows
    return database


@dataclass(frozen=True, slots=True)
class SignFacts:
    """Says that a and b are not negative, when they are not."""

    nonnegative: bool

    def interval(self, table: tuple[str, ...], column: str) -> Interval:
        if self.nonnegative and column in ("a", "b"):
            return Interval(Decimal(0), None, frozenset({f"{column} >= 0"}))
        return Interval()
