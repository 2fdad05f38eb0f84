"""Queries with scalar subqueries below and beside groups, and with groups by several sets of keys."""

from __future__ import annotations

import random
from collections.abc import Sequence

_FUNCTIONS = ("avg({})", "sum({})", "min({})", "max({})", "count({})", "count(*)", "coalesce(sum({}), 1)", "1 + max({}) - count(*)")
_INNER = (
    "s.k = {outer}",
    "s.y = {outer}",
    "{outer} = s.k AND s.y = {other}",
    "s.k = {outer} AND s.b > 0",
    "s.k = {outer} AND s.k = {other}",
)


def of_scalars(chance: random.Random) -> list[str]:
    """Return some queries, of which several read the same rows."""
    sources = [chance.choice(["r", "r", "r JOIN s AS t ON r.g = t.k", "r LEFT JOIN s AS t ON r.x = t.y"]) for _ in range(2)]
    return [chance.choice([_below, _below, _beside, _by_sets, _by_sets])(chance, chance.choice(sources)) for _ in range(6)]


def scalar(chance: random.Random, outer: str | None, other: str = "r.x") -> str:
    """Return a subquery that reads the row around it, or none where ``outer`` is not given."""
    function = chance.choice(_FUNCTIONS).format(chance.choice(["s.b", "s.y", "s.b + s.y"]))
    conditions = [] if outer is None else [chance.choice(_INNER).format(outer=outer, other=other)]
    conditions += [chance.choice(["s.b > 1", "s.y IN (1, 2)", "s.b < (SELECT max(a) FROM r AS u WHERE u.x > 0)"])] * (chance.random() < 0.4)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"(SELECT {function} FROM s{where})"


def _condition(chance: random.Random) -> str:
    if chance.random() < 0.2:
        return _membership(chance)
    subquery = scalar(chance, chance.choice([None, "r.g", "r.x", "r.g"]))
    found = f"{chance.choice(['r.a', 'r.x', 'r.a + r.x'])} {chance.choice(['>', '<=', '<>', '='])} {subquery}"
    return chance.choice([found, found, f"{found} AND r.x > 1", f"{found} AND r.a IN (0, 1, 2, 3)", f"({found} OR r.x = 2)"])


def _membership(chance: random.Random) -> str:
    """Return a condition over groups that are found for a row: one, none, or several where it does not have all of their keys."""
    columns, keys = chance.choice([("r.g", "k"), ("r.x", "y"), ("(r.g, r.x)", "k, y"), ("r.g", "k"), ("r.g + 1", "k")])
    grouped = chance.choice([keys, keys, keys, "k, y"])
    having = f"{chance.choice(['sum(s.b)', 'count(*)', 'min(s.y)', 'max(s.b)'])} {chance.choice(['>', '<=', '<>'])} {chance.randint(0, 3)}"
    where = chance.choice(["", "", " WHERE s.b > 0"])
    return f"{columns} {chance.choice(['IN', 'IN', 'IN', 'NOT IN'])} (SELECT {keys} FROM s{where} GROUP BY {grouped} HAVING {having})"


def _below(chance: random.Random, source: str) -> str:
    keys = chance.choice([[], ["r.g"], ["r.g"], ["r.x"]])
    items = [*(f"{key} AS k" for key in keys), "count(*) AS n", f"{chance.choice(['sum', 'avg', 'max'])}(r.a) AS f"]
    grouped = f" GROUP BY {keys[0]}" if keys else ""
    text = f"SELECT {', '.join(items)} FROM {source} WHERE {_condition(chance)}{grouped}"
    return f"{text} HAVING count(*) > 1" if keys and chance.random() < 0.3 else text


def _beside(chance: random.Random, source: str) -> str:
    if chance.random() < 0.3:
        return f"SELECT r.g AS c0, r.a AS c1 FROM {source} WHERE {_condition(chance)}"
    groups = f"(SELECT r.g, r.x, sum(r.a) AS a FROM {source} GROUP BY r.g, r.x)"
    return f"SELECT r.g AS c0, r.a AS c1 FROM {groups} r WHERE {_condition(chance)}"


def _by_sets(chance: random.Random, source: str) -> str:
    columns = chance.sample(["r.g", "r.x", "r.a", "r.g + 1"], chance.randint(1, 3))
    sets = chance.choice([_rolled, _cubed, _listed, _mixed])(chance, columns)
    functions = [chance.choice(["count(*)", "sum(r.a)", "avg(r.x)", "count(DISTINCT r.a)", "max(r.g)"]) for _ in range(2)]
    asked = chance.choice([[], ["grouping_id() AS i"], [f"grouping({columns[0]}) AS i"]])
    items = [
        *(f"{each} AS k{place}" for place, each in enumerate(columns)),
        *(f"{each} AS f{place}" for place, each in enumerate(functions)),
    ]
    where = chance.choice(["", " WHERE r.x > 1", " WHERE r.a <= 2 AND r.g = 1", f" WHERE {_condition(chance)}"])
    text = f"SELECT {', '.join([*items, *asked])} FROM {source}{where} GROUP BY {sets}"
    if chance.random() < 0.3:
        return f"{text} HAVING count(*) > {chance.randint(1, 3)}"
    return f"SELECT k0, max(f0) AS m FROM ({text}) q GROUP BY k0" if chance.random() < 0.2 else text


def _rolled(chance: random.Random, columns: Sequence[str]) -> str:
    return f"ROLLUP ({', '.join(columns)})"


def _cubed(chance: random.Random, columns: Sequence[str]) -> str:
    return f"CUBE ({', '.join(columns)})"


def _listed(chance: random.Random, columns: Sequence[str]) -> str:
    sets = [chance.sample(columns, chance.randint(0, len(columns))) for _ in range(chance.randint(1, 3))]
    written = [f"({', '.join(each)})" for each in ([*columns], *sets)]
    return f"GROUPING SETS ({', '.join(written)})"


def _mixed(chance: random.Random, columns: Sequence[str]) -> str:
    return f"{columns[0]}, ROLLUP ({', '.join(columns[1:])})" if len(columns) > 1 else _rolled(chance, columns)
