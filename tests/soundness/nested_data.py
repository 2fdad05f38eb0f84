"""Tables and changes under queries with nested aggregates: ties, NULL, copies, volumes of zero and below, tables that are empty at times.

A script is what is committed and asked, in its order, and says everything that happens: a part of it can be tried alone.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import TypeAlias

import pyarrow as pa

from tests.soundness.nested_shapes import NestedShape

SCHEMA = pa.schema(
    [
        *(("id", pa.int32()), ("g", pa.int32()), ("x", pa.int32()), ("a", pa.int32())),
        *(("m", pa.decimal128(10, 2)), ("w", pa.float64()), ("d", pa.date32())),
    ]
)
TABLES = ("r", "s")
Value: TypeAlias = int | Decimal | float | date | None
Row: TypeAlias = tuple[Value, ...]
_FIRST = date(2024, 2, 27)
_PASSING = 99


@dataclass(frozen=True, slots=True)
class Append:
    table: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Delete:
    table: str
    condition: str


@dataclass(frozen=True, slots=True)
class Update:
    table: str
    column: str
    value: str
    condition: str


@dataclass(frozen=True, slots=True)
class Ask:
    """``form`` names the outermost block of the query, ``features`` what else it has."""

    text: str
    form: str = ""
    features: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Settle:
    """What is captured in the background is there afterwards."""


Step: TypeAlias = Append | Delete | Update | Ask | Settle
Script: TypeAlias = tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Values:
    """From where the values of a warehouse are drawn: ``least`` volume, share of ``nulls``, number of ``prices``."""

    least: int
    nulls: float
    prices: int

    def row(self, chance: random.Random) -> Row:
        volume = chance.choice([self.least, 0, 1, 1, 2, 3, chance.randint(self.least, 9)])
        amount = Decimal(chance.choice([0, 10, 25, 50, 100, 150, 10 * self.least])).scaleb(-2)
        # Sums of these are exact in any order, and no zero is below zero.
        weight = chance.randint(4 * self.least, 12) / 4 or 0.0
        day = _FIRST + timedelta(days=chance.randint(0, 4))
        values: tuple[Value, ...] = (chance.randint(0, 3), chance.randint(0, self.prices), volume, amount, weight, day)
        return (chance.randint(0, 30), *(None if chance.random() < self.nulls else each for each in values))

    def rows(self, chance: random.Random, count: int) -> tuple[Row, ...]:
        """Draw rows; some are there twice."""
        rows = [self.row(chance) for _ in range(count)]
        return (*rows, *(each for each in rows if chance.random() < 0.1))


def table_of(rows: Sequence[Row]) -> pa.Table:
    """Return rows as columns."""
    return pa.table([pa.array([row[place] for row in rows], each.type) for place, each in enumerate(SCHEMA)], schema=SCHEMA)


def script_of(seed: int, number: int, rounds: int = 6, templates: int = 5) -> Script:
    """Return the script of one warehouse; those of even numbers ask plain queries of the class alone."""
    chance = random.Random(f"nested {seed} {number}")
    values = Values(chance.choice([0, 0, 0, -2]), chance.choice([0.0, 0.08, 0.08]), chance.choice([2, 5, 5, 12]))
    steps: list[Step] = [Append(table, values.rows(chance, chance.choice([0, 3, 10, 10, 20, 20, 40]))) for table in TABLES]
    shapes = [NestedShape(chance, is_plain=number % 2 == 0) for _ in range(templates)]
    constants = [chance.random() for _ in shapes]
    for _ in range(rounds):
        for place, shape in enumerate(shapes):
            if chance.random() < 0.15:
                constants[place] = chance.random()
            text = shape.text(random.Random(constants[place]))
            steps.append(Ask(text, shape.form, shape.features))
        steps.append(Settle())
        for _ in range(chance.choice([1, 1, 1, 2, 2, 3])):
            steps += _changes(chance, values)
    while not isinstance(steps[-1], Settle):
        steps.pop()
    return tuple(steps)


def _changes(chance: random.Random, values: Values) -> list[Step]:
    table = chance.choice(["r", "r", "s"])
    drawn = chance.random()
    if drawn < 0.08:
        # Rows that come and leave before anything is asked.
        passing = tuple((_PASSING, *row[1:]) for row in values.rows(chance, 2))
        return [Append(table, passing), Delete(table, f"id = {_PASSING}")]
    if drawn < 0.55:
        # Once in a while a negative volume comes where there was none, and sometimes many rows come at once.
        given = values if chance.random() < 0.93 else replace(values, least=-2)
        return [Append(table, given.rows(chance, chance.randint(1, 5) if chance.random() < 0.85 else chance.randint(12, 25)))]
    condition = chance.choice(
        [
            *(f"id = {chance.randint(0, 30)}", f"x = {chance.randint(0, values.prices)}", f"g = {chance.randint(0, 3)} AND x < 3"),
            *(
                f"a = {chance.randint(values.least, 4)}",
                "g IS NULL",
                f"m < 0.2 AND id < {chance.randint(5, 30)}",
                f"id < {chance.randint(3, 8)}",
            ),
        ]
    )
    if drawn < 0.78:
        return [Delete(table, "id >= 0" if chance.random() < 0.1 else condition)]
    changes = [
        ("a", "a + 1"),
        ("a", "a - 1" if values.least < 0 else "0"),
        ("x", "x + 1"),
        ("x", "g"),
        ("g", "x"),
        ("m", "m + m"),
        ("w", "w + 0.25"),
    ]
    return [Update(table, *chance.choice(changes), condition)]
