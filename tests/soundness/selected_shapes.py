"""Queries with scalar subqueries in the SELECT list: shares of a total, differences from an average, values of another table beside."""

from __future__ import annotations

import random

_SOURCES = ("r", "r", "r JOIN s ON r.g = s.k", "r LEFT JOIN s ON r.x = s.y")


def of_selected(chance: random.Random) -> list[str]:
    """Return a few queries, some of which have the same subqueries."""
    subqueries = [_subquery(chance) for _ in range(2)]
    return [_query(chance, chance.choice(subqueries)) for _ in range(5)]


def _subquery(chance: random.Random) -> str:
    function = chance.choice(["sum", "min", "max", "count", "sum"])
    where = chance.choice(["", f" WHERE t.b > {chance.randint(0, 3)}", f" WHERE t.y IN ({chance.randint(0, 3)}, 2)"])
    grouped = f"(SELECT max(u.n) FROM (SELECT k, {function}(b) AS n FROM s AS t{where} GROUP BY k) u)"
    first = f"(SELECT t.b FROM s AS t{where} ORDER BY t.b, t.k, t.y, t.id LIMIT 1)"
    return chance.choice([f"(SELECT {function}(t.b) FROM s AS t{where})"] * 3 + ["(SELECT sum(u.a) FROM r AS u)", grouped, first])


def _query(chance: random.Random, subquery: str) -> str:
    value = chance.choice(["sum(r.a)", "max(r.x)", "count(*)"])
    item = chance.choice([f"{value} - {subquery}", f"{value} > {subquery}", f"COALESCE({subquery}, 0) * {value}", subquery])
    where = chance.choice(["", f" WHERE r.x > {chance.randint(0, 2)}", f" WHERE r.a = {chance.randint(0, 3)} OR r.x = 1"])
    source = chance.choice(_SOURCES)
    if chance.random() < 0.25:
        correlated = f"(SELECT max(t.b) FROM s AS t WHERE t.k = r.g AND t.y > {chance.randint(0, 2)})"
        return f"SELECT r.g, r.x, r.a + {chance.choice([subquery, correlated])} AS c FROM {source}{where}"
    keys = chance.choice([["r.g"], ["r.g"], ["r.g", "r.x"], []])
    having = chance.choice(["", "", f" HAVING sum(r.a) > {chance.randint(0, 4)}", f" HAVING c > {chance.randint(-2, 3)}"])
    grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
    text = f"SELECT {', '.join([*keys, f'{item} AS c'])} FROM {source}{where}{grouped}{having}"
    if keys and chance.random() < 0.3:
        text += f" ORDER BY c DESC, {', '.join(keys)} LIMIT {chance.randint(1, 4)}"
    return f"SELECT c, count(*) AS n FROM ({text}) q GROUP BY c" if chance.random() < 0.15 else text
