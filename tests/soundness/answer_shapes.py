"""Queries over the rows of one source whose groups follow from each other: coarser keys, conditions on keys, other constants."""

from __future__ import annotations

import random
from collections.abc import Sequence

_SOURCES = ("r", "r", "r", "r JOIN s ON r.g = s.k", "r LEFT JOIN s ON r.x = s.y AND s.b > 0")


def of_one_source(chance: random.Random) -> list[str]:
    """Return a query of fine groups first, then others of the same rows."""
    source = chance.choice(_SOURCES)
    columns = ["r.g", "r.x", *(["s.y"] if " s " in source else [])]
    held = [
        "sum(r.a)",
        "count(r.a)",
        "min(r.a)",
        "avg(r.a)",
        "count(DISTINCT r.a)",
        "count(DISTINCT r.a, r.x)",
        "count(*)",
        "max(r.a)",
        "sum(r.a + r.x)",
    ]
    held = chance.sample(held, chance.randint(2, len(held)))
    fine = f"SELECT {', '.join([*columns, *_named(held)])} FROM {source} GROUP BY {', '.join(columns)}"
    return [fine, *(_coarser(chance, source, columns, held) for _ in range(chance.randint(4, 7)))]


def _named(functions: Sequence[str]) -> list[str]:
    return [f"{function} AS f{place}" for place, function in enumerate(functions)]


def _coarser(chance: random.Random, source: str, columns: Sequence[str], held: Sequence[str]) -> str:
    one, other = chance.choice(columns), chance.choice(columns)
    keys = chance.choice([[], [one], [one], [other], [one, other], [f"{one} + {other}"], [f"{one} > 1"], [f"COALESCE({one}, {other})"]])
    keys = list(dict.fromkeys([*keys, *(["CASE WHEN r.g = 1 THEN r.x END"] if chance.random() < 0.1 else [])]))
    over_keys = [f"sum({one})", f"min({other})", f"count({one})", f"avg({one})", f"count(DISTINCT {other})"]
    over_keys += [f"sum(CASE WHEN {one} > 1 THEN {other} ELSE 0 END)", f"max({one} + {other})", f"count_if({one} = {other})"]
    functions = list(dict.fromkeys([chance.choice([*held, "sum(r.a)"]), chance.choice([*held, *over_keys]), "count(*)"]))
    where = _conditions(chance, one, other)
    if "r.a" in functions[0] and len(where) % 3 == 0:
        # Not by chance: the other choices stay as they are.
        functions[-1] = _conditional(functions[0], one, len(where) % 2 == 0)
    # By their positions: a constant in a key is the same then, whatever it is changed to.
    grouped = f" GROUP BY {', '.join(str(place + 1) for place in range(len(keys)))}" if keys else ""
    items = [*(f"{key} AS k{place}" for place, key in enumerate(keys)), *_named(functions)]
    text = f"SELECT {', '.join(items)} FROM {source}{where}{grouped}"
    return _around(chance, text, functions[0], bool(keys))


def _conditional(function: str, column: str, is_filter: bool) -> str:
    """Return an aggregate of the rows that pass a condition on a column."""
    if is_filter or "DISTINCT" in function:
        return f"{function} FILTER (WHERE {column} > 1)"
    name, _, argument = function.removesuffix(")").partition("(")
    return f"{name}(CASE WHEN {column} = 1 THEN {argument} ELSE 0 END)"


def _conditions(chance: random.Random, one: str, other: str) -> str:
    atoms = [f"{one} = 1", f"{other} > 0", f"{one} IN (1, 2)", f"({one} > 2 OR {other} = 0)", f"NOT {other} = 2", f"{one} IS NULL"]
    atoms += [f"{one} + {other} < 4", f"{one} BETWEEN 1 AND 3", "r.a > 1", "r.id < 50", f"{one} NOT IN (0, 3)", f"{one} <=> {other}"]
    chosen = chance.sample(atoms, chance.choice([0, 0, 1, 1, 2]))
    return f" WHERE {' AND '.join(chosen)}" if chosen else ""


def _around(chance: random.Random, text: str, function: str, has_keys: bool) -> str:
    if chance.random() < 0.3:
        return f"{text} HAVING {function} {chance.choice(['>', '<=', '='])} 3"
    if has_keys and chance.random() < 0.3:
        return chance.choice(
            [
                f"SELECT max(f0) AS most, count(*) AS n FROM ({text}) q",
                f"SELECT q.k0, q.f0 FROM ({text}) q WHERE q.f0 >= 2 ORDER BY q.f0 DESC, q.k0 LIMIT 2",
                f"SELECT q.f0 AS k0, q.k0 AS f0 FROM ({text}) q ORDER BY 2 DESC, 1 LIMIT 2",
                f"WITH q AS ({text}) SELECT k0, f0 FROM q WHERE f0 = (SELECT max(f0) FROM q)",
                f"SELECT DISTINCT f0 FROM ({text}) q",
            ]
        )
    return text
