"""Queries over columns of many types, whose constants are drawn anew each time they are asked.

What DuckDB computes otherwise than Spark is left out: averages of decimals, casts that round, days of weeks, the zero below zero.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Mapping
from decimal import Decimal

import pyarrow as pa

_FIRST = datetime.datetime(2024, 1, 1)
_TEXTS = ("a", "A", "ab", "b", "", " ", "b ", "ä", "zz", "2024-02-01", "10")
SCHEMAS: Mapping[str, pa.Schema] = {
    "e": pa.schema(
        [
            *(("k", pa.string()), ("n", pa.int32()), ("u", pa.int16()), ("i", pa.int64()), ("d", pa.date32())),
            *(("t", pa.timestamp("us", tz="UTC")), ("l", pa.timestamp("us")), ("m", pa.decimal128(8, 2)), ("w", pa.float64())),
            *(("f", pa.float32()), ("b", pa.bool_())),
        ]
    ),
    "p": pa.schema([("pk", pa.string()), ("pn", pa.int64()), ("pd", pa.date32()), ("pm", pa.decimal128(10, 3)), ("pw", pa.float64())]),
}
Draw = Callable[[random.Random], object]


def _number(chance: random.Random) -> int:
    return chance.randint(-3, 5)


def _day(chance: random.Random) -> datetime.date:
    return _FIRST.date() + datetime.timedelta(days=chance.choice([0, 30, 31, 59, 60, 365, chance.randrange(400)]))


def _time(chance: random.Random) -> datetime.datetime:
    """Often the beginning of a day or an hour, or right before one."""
    hours = chance.choice([24 * 31, 24 * 366, chance.randrange(24 * 400)])
    return _FIRST + datetime.timedelta(hours=hours, microseconds=chance.choice([0, 0, 0, -1, 1_800_000_000, 1_000]))


def _money(chance: random.Random) -> Decimal:
    return Decimal(chance.choice([0, 50, 125, 199, 200, -300, chance.randint(-500, 900)])).scaleb(-2)


def _double(chance: random.Random) -> float:
    """Sums of these are exact in any order."""
    return chance.randint(-12, 20) / 4 or 0.0


_VALUES: Mapping[str, Draw] = {
    "k": lambda chance: chance.choice(_TEXTS),
    "n": _number,
    "u": _number,
    "i": lambda chance: chance.randint(0, 60),
    "d": _day,
    "t": lambda chance: _time(chance).replace(tzinfo=datetime.UTC),
    "l": _time,
    "m": _money,
    "w": _double,
    "f": _double,
    "b": lambda chance: chance.random() < 0.5,
    "pk": lambda chance: chance.choice(_TEXTS),
    "pn": _number,
    "pd": _day,
    "pm": lambda chance: _money(chance).quantize(Decimal("1.000")),
    "pw": _double,
}


def rows_of(table: str, chance: random.Random, count: int) -> pa.Table:
    """Draw rows of a table; one value in ten is NULL."""
    columns = [
        pa.array([None if chance.random() < 0.1 else _VALUES[field.name](chance) for _ in range(count)], field.type)
        for field in SCHEMAS[table]
    ]
    return pa.table(columns, schema=SCHEMAS[table])


def deletion(table: str, chance: random.Random) -> str:
    """Return a condition for delta-rs that a few rows pass."""
    number = chance.randint(-3, 5)
    return f"n = {number}" if table == "e" else f"pn = {number}"


def _literal(column: str, chance: random.Random) -> str:
    """Return a constant beside which a column stands, in one of the forms that people write."""
    name = column.rpartition(".")[2]
    value = _VALUES[name](chance)
    if name in ("k", "pk"):
        return f"'{value}'"
    if name in ("d", "pd"):
        return chance.choice([f"DATE '{value}'", f"'{value}'", f"CAST('{value}' AS DATE)"])
    if name == "t":
        return f"TIMESTAMP '{_VALUES['l'](chance)}'"
    if name == "l":
        return f"TIMESTAMP_NTZ '{value}'"
    if name in ("m", "pm"):
        return chance.choice([str(value), str(chance.randint(-2, 4)), "1.5", "2.005"])
    if name in ("w", "f", "pw"):
        return chance.choice([f"CAST({value} AS DOUBLE)", str(chance.randint(-2, 4)), str(value)])
    return chance.choice([str(chance.randint(-3, 5)), str(chance.randint(-3, 5)), "1.5"])


_SOURCES = (
    *("e", "e", "e", "e"),
    *("e JOIN p ON e.k = p.pk", "e JOIN p ON e.d = p.pd", "e LEFT JOIN p ON e.n = p.pn", "e JOIN p ON e.n = p.pn AND e.m > p.pm"),
    *("e LEFT JOIN p ON e.k = p.pk AND p.pn > 1", "e JOIN p ON e.m = p.pm", "e JOIN p ON e.w = p.pw", "e LEFT JOIN p ON e.u = p.pn"),
)
_COLUMNS = ("e.k", "e.n", "e.u", "e.i", "e.d", "e.t", "e.l", "e.m", "e.w", "e.f", "e.b")
_PARTNERS = ("p.pk", "p.pn", "p.pd", "p.pm", "p.pw")
_COMPUTED_KEYS = (
    *("upper(e.k)", "substring(e.k, 1, 1)", "length(e.k)", "COALESCE(e.k, 'none')", "concat(e.k, 'x')", "e.n % 3", "e.n + e.u", "e.n > 1"),
    *("year(e.d)", "month(e.d)", "quarter(e.d)", "CAST(e.t AS DATE)", "year(e.t)", "hour(e.t)", "month(e.l)", "CAST(e.l AS DATE)"),
    *("e.m * 2", "e.m > 1", "e.w * 2", "e.b AND e.n > 0", "CASE WHEN e.n > 1 THEN e.k ELSE 'other' END", "NOT e.b", "e.d IS NULL"),
    *("e.m + e.n", "e.w > e.n", "abs(e.n)", "COALESCE(e.m, 0)", "e.n * e.u", "nullif(e.n, 1)", "CAST(e.n AS STRING)", "-e.m"),
    *(
        "trunc(e.d, 'MONTH')",
        "date_trunc('HOUR', e.t)",
        "date_trunc('DAY', e.l)",
        "CAST(e.n AS DECIMAL(10, 2))",
        "CAST(e.m AS DECIMAL(9, 3))",
    ),
    *("CAST(e.n AS DOUBLE)", "lower(substring(e.k, 2))", "trim(e.k)", "e.k || CAST(e.n AS STRING)", "minute(e.t)", "day(e.d)", "e.m - e.n"),
)
_AGGREGATES = (
    *(
        "count(*)",
        "sum(e.n)",
        "sum(e.m)",
        "min(e.d)",
        "max(e.t)",
        "min(e.l)",
        "max(e.k)",
        "min(e.w)",
        "count(DISTINCT e.k)",
        "count(DISTINCT e.k, e.m, e.d)",
        "sum(e.i)",
    ),
    *("count(DISTINCT e.d)", "count(e.m)", "avg(e.n)", "sum(e.m * 2)", "bool_or(e.b)", "bool_and(e.n > 0)", "max(e.m)", "min(e.b)"),
    *("sum(DISTINCT e.n)", "count_if(e.b)", "sum(e.w)", "avg(e.w)", "max(e.f)", "sum(e.n * e.u)", "count(DISTINCT e.m)", "max(e.u)"),
)


class Shape:
    """A template: the structure is drawn once, the constants each time."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._source = chance.choice(_SOURCES)
        self._columns: list[str] = [*_COLUMNS, *(_PARTNERS if " p " in self._source else ())]
        self._seed = chance.random()

    def text(self, constants: random.Random) -> str:
        """Return the query with constants of its own."""
        chance = random.Random(self._seed)
        where = self._where(chance, constants)
        if chance.random() < 0.2:
            return self._of_rows(chance, where)
        keys = [self._key(chance, constants) for _ in range(chance.choice([0, 1, 1, 1, 2]))]
        functions = [self._aggregate(chance, constants) for _ in range(chance.randint(1, 3))]
        items = [f"{item} AS c{place}" for place, item in enumerate([*keys, *functions])]
        grouped = f" GROUP BY {', '.join(str(place + 1) for place in range(len(keys)))}" if keys else ""
        text = f"SELECT {', '.join(items)} FROM {self._source}{where}{grouped}"
        if chance.random() < 0.2:
            text += f" HAVING count(*) > {constants.randint(0, 3)}"
        return self._around(chance, text, len(items))

    def _of_rows(self, chance: random.Random, where: str) -> str:
        items = chance.sample([*self._columns, *_COMPUTED_KEYS], chance.randint(1, 3))
        text = f"SELECT {', '.join(f'{item} AS c{place}' for place, item in enumerate(items))} FROM {self._source}{where}"
        return self._around(chance, text, len(items))

    def _around(self, chance: random.Random, text: str, count: int) -> str:
        drawn = chance.random()
        if drawn < 0.15:
            order = ", ".join(f"c{place} {chance.choice(['ASC', 'DESC'])}" for place in range(count))
            return f"{text} ORDER BY {order} LIMIT {chance.randint(1, 4)}"
        if drawn < 0.25:
            return f"SELECT DISTINCT c0 FROM ({text}) q"
        return f"SELECT c0, count(*) AS n FROM ({text}) q GROUP BY c0" if drawn < 0.3 else text

    def _key(self, chance: random.Random, constants: random.Random) -> str:
        if chance.random() < 0.15:
            return f"CASE WHEN {self._atom(chance, constants)} THEN 'yes' ELSE 'no' END"
        return chance.choice(self._columns if chance.random() < 0.5 else [*_COMPUTED_KEYS])

    def _aggregate(self, chance: random.Random, constants: random.Random) -> str:
        drawn, function = chance.random(), chance.choice(_AGGREGATES)
        if drawn < 0.15:
            return f"{function} FILTER (WHERE {self._atom(chance, constants)})"
        if drawn < 0.3:
            value = chance.choice(["e.n", "e.m", "1", "e.i"])
            return f"sum(CASE WHEN {self._atom(chance, constants)} THEN {value} ELSE 0 END)"
        return function

    def _where(self, chance: random.Random, constants: random.Random) -> str:
        atoms = [self._atom(chance, constants) for _ in range(chance.choice([0, 1, 1, 2]))]
        return f" WHERE {' AND '.join(atoms)}" if atoms else ""

    def _atom(self, chance: random.Random, constants: random.Random) -> str:
        column = chance.choice(self._columns)
        if column == "e.b":
            return chance.choice(["e.b", "NOT e.b", "e.b IS NULL", "e.b = true"])
        one, other = _literal(column, constants), _literal(column, constants)
        forms = [
            *(f"{column} {comparison} {one}" for comparison in ("=", ">", "<=", "<", ">=", "<>", "<=>")),
            *(f"{column} BETWEEN {one} AND {other}", f"NOT {column} > {one}", f"{one} < {column}", f"{column} IS NOT NULL"),
            *(f"{column} IN ({one}, {other})", f"({column} = {one} OR {column} > {other})", f"NOT {column} IN ({one})"),
        ]
        if column == "e.k" and chance.random() < 0.3:
            return chance.choice(["e.k LIKE 'a%'", f"substring(e.k, 1, 1) = {one}", f"upper(e.k) = {one}", f"e.k > upper({one})"])
        if column in ("e.d", "e.l") and chance.random() < 0.3:
            forms = [f"year({column}) = {constants.choice([2024, 2025])}", f"month({column}) < {constants.randint(1, 12)}"]
        if chance.random() < 0.1:
            value = _literal("e.n", constants)
            forms = [
                f"e.n > (SELECT min(t.pn) FROM p AS t WHERE t.pn > {value})",
                f"e.m = (SELECT max(t.pm) FROM p AS t WHERE t.pn < {value})",
                f"e.k IN (SELECT t.pk FROM p AS t WHERE t.pn > {value})",
                f"EXISTS (SELECT 1 FROM p AS t WHERE t.pd = e.d AND t.pn <> {value})",
                f"NOT EXISTS (SELECT 1 FROM p AS t WHERE t.pn = e.n AND t.pn > {value})",
                f"e.u IN (SELECT t.pn FROM p AS t GROUP BY t.pn HAVING count(*) > {constants.randint(0, 2)})",
                f"e.w > (SELECT sum(t.pn) FROM p AS t WHERE t.pn < {value})",
            ]
        if chance.random() < 0.1:
            forms = ["e.n > e.u", "e.m > e.n", "e.w <= e.m", "e.d > CAST(e.l AS DATE)", "e.n = e.w", "e.f = e.w"]
        return chance.choice(forms)
