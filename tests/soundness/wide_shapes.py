"""Queries of one table beside groups of its join with another one, over tables where most rows have one partner, but not always all."""

from __future__ import annotations

import random

from tests.soundness.engine import Row

_ON = ("r.x = s.id", "s.id = r.x", "r.x = s.id AND s.y >= 0", "r.x = s.id AND r.g > 1")
_AGGREGATES = ("count(*) AS n", "sum(r.a) AS t", "count(r.a) AS c", "min(r.a) AS low", "max(r.a) AS high")
_CONDITIONS = ("r.g > 1", "r.g IS NULL OR r.g < 3", "r.a > 0", "r.x > 1", "r.g = r.x")


def of_wide(chance: random.Random) -> list[str]:
    """Return groups of joins and many queries that read fewer tables, most of which are asked once."""
    return [*(_grouped(chance, _joined(chance), "r.g, s.k") for _ in range(3)), *(_narrow(chance) for _ in range(60))]


def _joined(chance: random.Random) -> str:
    kind = chance.choice(("JOIN", "JOIN", "LEFT JOIN"))
    return f"r {kind} s ON {chance.choice(_ON[:2] if chance.random() < 0.6 else _ON)}"


def _narrow(chance: random.Random) -> str:
    source = chance.choice(("r", _joined(chance)))
    return _grouped(chance, source, chance.choice(("", "r.g", "r.g", "s.k" if "s" in source else "r.g")))


def _grouped(chance: random.Random, source: str, keys: str) -> str:
    listed = ", ".join([*filter(None, (keys,)), *chance.sample(_AGGREGATES, chance.randint(1, 3) if keys.count(".") < 2 else 5)])
    where = f" WHERE {chance.choice(_CONDITIONS)}" if chance.random() < 0.3 else ""
    return f"SELECT {listed} FROM {source}{where}" + (f" GROUP BY {keys}" if keys else "")


def partnered(chance: random.Random, table: str, rows: list[Row], least: int) -> list[Row]:
    """Return the rows of a table after a change: each of r has one partner in s, by x and id, but now and then one has none or two."""
    kept = [row for row in rows if chance.random() < 0.9]
    if table == "r":
        partners = [0, 1, 2, 3, 4] * 8 + [None, 7]
        added = range(chance.randint(0, 3) if rows else chance.randint(3, 12))
        return [*kept, *((chance.randint(0, 99), chance.randint(0, 4), chance.choice(partners), chance.randint(least, 4)) for _ in added)]
    identifiers = [0, 1, 2, 3, 4]
    if chance.random() < 0.4:
        # Where few rows meet the one that goes and the one that comes twice they may be as many as before.
        identifiers[chance.randrange(5)] = chance.choice([0, 1, 2, 3, 4, 7])
    return [(identifier, chance.randint(0, 4), chance.randint(-1, 4), chance.randint(0, 4)) for identifier in identifiers]
