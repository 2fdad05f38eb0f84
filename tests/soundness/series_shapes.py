"""Queries whose rows look for partners among the first ones of groups, as tools ask for the lines of a chart."""

from __future__ import annotations

import random

_KEYS = ("g", "x")


def of_series(chance: random.Random) -> list[str]:
    """Return a few queries, most of which are grouped by what they are joined by."""
    return [_query(chance) for _ in range(4)]


def _query(chance: random.Random) -> str:
    keys = chance.sample(_KEYS, chance.choice([1, 1, 2]))
    first, sums = _first(chance, keys), "sum(r.a) AS s, count(*) AS n"
    by = list(dict.fromkeys([*keys, *chance.sample([*_KEYS, "id % 3"], chance.randint(0, 2))]))
    if chance.random() < 0.4:
        # Rows of such a group have several partners.
        by.remove(chance.choice(keys))
    if chance.random() < 0.3:
        what = "IN" if chance.random() < 0.7 else "NOT IN"
        among = f"{keys[0]} {what} (SELECT k0 FROM {first} q){_and(chance)}"
        return f"SELECT {', '.join(['1 AS o', *by])}, {sums} FROM r WHERE {among}{_group(by)}"
    joined = " AND ".join(f"r.{key} = q.k{place}" for place, key in enumerate(keys) if place == 0 or chance.random() < 0.8)
    if chance.random() < 0.3:
        joined += f" AND {chance.choice(['q.t > 2', 'r.g < q.t', 'r.a < q.t', 'r.x <> q.k0', 'q.t IS NOT NULL'])}"
    if chance.random() < 0.3:
        by = ["q.k0" if each == keys[0] else each for each in by]
    if chance.random() < 0.2:
        by.append("q.t")
    if chance.random() < 0.1:
        sums = "sum(r.a + q.t) AS s"
    other = f" JOIN {_first(chance, ['g'])} p ON r.g = p.k0" if chance.random() < 0.15 else ""
    return f"SELECT {', '.join(['1 AS o', *by])}, {sums} FROM r JOIN {first} q ON {joined}{other} WHERE r.id > 1{_and(chance)}{_group(by)}"


def _group(by: list[str]) -> str:
    return f" GROUP BY {', '.join(by)}" if by else ""


def _and(chance: random.Random) -> str:
    return f" AND {chance.choice(['a > 1', 'r.g IN (0, 1, 2)', 'r.x < 3', 'a IS NOT NULL'])}" if chance.random() < 0.6 else ""


def _first(chance: random.Random, keys: list[str]) -> str:
    """Return the first groups in a total order."""
    named = ", ".join(f"{key} AS k{place}" for place, key in enumerate(keys))
    where = f" WHERE {chance.choice(['a > 1', 'x < 3', 'id > 2'])}" if chance.random() < 0.5 else ""
    text = f"SELECT {named}, sum(a) AS t FROM r{where} GROUP BY {', '.join(keys)}"
    if chance.random() < 0.1:
        return f"({text} HAVING sum(a) > (SELECT min(b) FROM s WHERE b > 0))"
    return f"({text} ORDER BY sum(a) DESC, {', '.join(keys)} LIMIT {chance.randint(1, 4)})"
