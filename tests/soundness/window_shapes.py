"""Queries with window functions over groups, and over rows."""

from __future__ import annotations

import random

_WHOLE = ("sum({v})", "count({v})", "count(*)", "min({v})", "max({v})", "avg({v})", "sum(CAST({v} AS DECIMAL(6, 1)))")
_RANKS = ("rank()", "dense_rank()", "percent_rank()", "cume_dist()")
_POSITIONS = (
    "row_number()",
    "ntile({n})",
    "lag({v})",
    "lead({v}, {n})",
    "lag({v}, {n}, -1)",
    "first_value({v})",
    "last_value({v})",
    "nth_value({v}, {n})",
)
_ENDS = ("UNBOUNDED PRECEDING", "2 PRECEDING", "1 PRECEDING", "CURRENT ROW", "1 FOLLOWING", "3 FOLLOWING", "UNBOUNDED FOLLOWING")


def of_windows(chance: random.Random) -> list[str]:
    """Return a few queries over the same groups or rows."""
    source = chance.choice(["r", "r", "r JOIN s ON r.g = s.k", "r LEFT JOIN s ON r.x = s.y"])
    return [_query(chance, source) for _ in range(5)]


def of_windows_below(chance: random.Random) -> list[str]:
    """Return a few groups over windows and first rows, which all tell rows apart by all columns."""
    return [_below(chance) for _ in range(3)]


def _below(chance: random.Random) -> str:
    order = ", ".join(f"{key} {chance.choice(['ASC', 'DESC'])}" for key in chance.sample(["a", "x", "id", "g"], 4))
    partition = chance.choice(["PARTITION BY g ", "PARTITION BY g ", "PARTITION BY g, x ", "PARTITION BY x ", ""])
    function = chance.choice([*_WHOLE[:6], *_POSITIONS, *_RANKS]).format(v="a", n=chance.randint(1, 3))
    rows = chance.choice(["r", "r", "(SELECT r.id, r.g, r.x, s.b AS a FROM r JOIN s ON r.g = s.k)", "(SELECT DISTINCT id, g, x, a FROM r)"])
    if chance.random() < 0.25:
        inner = f"SELECT id, g, x, a FROM {rows} t ORDER BY {order} LIMIT {chance.randint(1, 9)}{chance.choice(['', ' OFFSET 2'])}"
        return f"SELECT q.g AS g, sum(q.a) AS s, count(*) AS c FROM ({inner}) q GROUP BY q.g"
    frame = (
        _frame(chance)
        if "(a)" in function and chance.random() < 0.4 and function.split("(")[0] in ("sum", "count", "min", "max", "avg")
        else ""
    )
    first = f"SELECT id, g, x, a, {function} OVER ({partition}ORDER BY {order}{frame}) AS w"
    count = f", count(*) OVER ({chance.choice([partition, 'PARTITION BY g ', 'PARTITION BY x '])}) AS n"
    inner = f"{first}{chance.choice([count, ', 1 AS n'])} FROM {rows} t"
    where = chance.choice(["", " WHERE q.w <= 2", " WHERE q.w > 1 OR q.x = 1"])
    if chance.random() < 0.3:
        joined = f"s JOIN ({inner}) q ON s.k = q.{chance.choice('xga')}"
        return f"SELECT s.y AS k, sum(q.a) AS s, sum(q.n) AS n, count(q.w) AS w FROM {joined} GROUP BY s.y"
    key = chance.choice(["q.g", "q.x", "q.w", "q.n"])
    return f"SELECT {key} AS k, sum(q.a) AS s, count(*) AS c, sum(q.n) AS n FROM ({inner}) q{where} GROUP BY {key}"


def _query(chance: random.Random, source: str) -> str:
    if chance.random() < 0.25:
        # Few columns are read, so that rows of equal values come together.
        return f"SELECT r.g, r.x, {_function(chance, ['r.g', 'r.x'], 'r.x')} AS w FROM {source}"
    keys = chance.choice([["r.g"], ["r.g", "r.x"], ["r.x"]])
    value = chance.choice(["sum(r.a)", "count(*)", "max(r.a)", "sum(r.x + r.a)", keys[0], "avg(r.a)"])
    items = [f"{_function(chance, keys, value)} AS w{place}" for place in range(chance.randint(1, 2))]
    if chance.random() < 0.3:
        items.append(f"{value} - {_function(chance, keys, value, whole=True)} AS d")
    text = f"SELECT {', '.join([*keys, *items])} FROM {source} GROUP BY {', '.join(keys)}"
    return chance.choice(
        [text] * 3 + [f"SELECT q.w0, count(*) AS n FROM ({text}) q GROUP BY q.w0", f"SELECT * FROM ({text}) q WHERE q.w0 > 1"]
    )


def _function(chance: random.Random, keys: list[str], value: str, *, whole: bool = False) -> str:
    partition = chance.choice(["", f"PARTITION BY {keys[0]}", f"PARTITION BY {value} > 2", f"PARTITION BY {keys[-1]}"])
    order = ", ".join(f"{key} {chance.choice(['ASC', 'DESC'])} NULLS {chance.choice(['FIRST', 'LAST'])}" for key in keys)
    if chance.random() < 0.6:
        order = f"{value} {chance.choice(['ASC', 'DESC'])} NULLS {chance.choice(['FIRST', 'LAST'])}{chance.choice(['', f', {order}'])}"
    number = chance.randint(1, 3)
    if whole or chance.random() < 0.3:
        return f"{chance.choice(_WHOLE).format(v=value)} OVER ({partition})"
    if chance.random() < 0.3:
        return f"{chance.choice(_RANKS)} OVER ({partition} ORDER BY {order})"
    if chance.random() < 0.4:
        return f"{chance.choice(_POSITIONS).format(v=value, n=number)} OVER ({partition} ORDER BY {order})"
    return f"{chance.choice(_WHOLE).format(v=value)} OVER ({partition} ORDER BY {order}{_frame(chance)})"


def _frame(chance: random.Random) -> str:
    if chance.random() < 0.3:
        return ""
    if chance.random() < 0.2:
        start, end = chance.choice(["UNBOUNDED PRECEDING", "CURRENT ROW"]), chance.choice(["CURRENT ROW", "UNBOUNDED FOLLOWING"])
        return f" RANGE BETWEEN {start} AND {end}"
    place = chance.randint(0, len(_ENDS) - 2)
    return f" ROWS BETWEEN {_ENDS[place]} AND {_ENDS[chance.randint(max(1, place), len(_ENDS) - 1)]}"
