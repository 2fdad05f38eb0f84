"""Queries whose rows are not grouped, or not all of them: filters and joins of tables, alone and beside groups."""

from __future__ import annotations

import random

_SOURCES = (
    *("r", "r", "r"),
    "r JOIN s ON r.g = s.k",
    "r JOIN s ON r.g = s.k AND r.a < s.b",
    "r LEFT JOIN s ON r.x = s.y AND s.b > 0",
    "r LEFT JOIN s ON r.g = s.k",
    "(SELECT id, g, x, a FROM r WHERE x > 0) r JOIN (SELECT k, y, b + 1 AS b FROM s) s ON r.g = s.k",
)


def of_tables(chance: random.Random) -> list[str]:
    """Return some queries, of which several read the same rows."""
    sources = [chance.choice(_SOURCES) for _ in range(2)]
    return [_query(chance, chance.choice(sources)) for _ in range(6)]


def of_firsts(chance: random.Random) -> list[str]:
    """Return a few queries that take the first rows of an order, nearly always a total one."""
    return [_first_rows(chance, chance.choice(_SOURCES)) for _ in range(3)]


def _first_rows(chance: random.Random, source: str) -> str:
    columns = ["r.id", "r.g", "r.x", "r.a", *(["s.y", "s.b"] if " s " in source else [])]
    items = chance.sample([*columns, f"{columns[1]} + {columns[-1]}", f"COALESCE({columns[2]}, 7)"], chance.randint(2, 4))
    if not set(columns) & set(items):
        items.append("r.a")
    names = {item: f"c{place}" for place, item in enumerate(items)}
    first = chance.choice([item for item in items if item in columns])
    order = ", ".join(
        f"{chance.choice([name, item])} {chance.choice(['ASC', 'DESC'])}{chance.choice(['', '', ' NULLS FIRST', ' NULLS LAST'])}"
        for item, name in sorted(names.items(), key=lambda each: each[0] != first)
    )
    # Constants that change ask for another threshold each time.
    where = _where(chance, columns) if chance.random() < 0.4 else ""
    text = f"SELECT {', '.join(f'{item} AS {name}' for item, name in names.items())} FROM {source}{where}"
    text += f" ORDER BY {order} LIMIT {chance.randint(1, 4)}{chance.choice(['', '', ' OFFSET 2'])}"
    return f"SELECT c0 + 1 AS d, c1 FROM ({text}) q" if chance.random() < 0.1 else text


def _query(chance: random.Random, source: str) -> str:
    columns = ["r.g", "r.x", "r.a", *(["s.y", "s.b"] if " s " in source else ["r.id"])]
    items = chance.sample(
        [*columns, f"{columns[0]} + {columns[-1]}", f"COALESCE({columns[1]}, 7)", f"{columns[2]} > 1"], chance.randint(1, 4)
    )
    named = [f"{item} AS c{place}" for place, item in enumerate(items)]
    text = f"SELECT {', '.join(named)} FROM {source}{_where(chance, columns)}"
    names = [f"c{place}" for place in range(len(items))]
    return chance.choice([_same, _same, _first, _distinct, _beside, _counted, _below])(chance, text, names)


def _where(chance: random.Random, columns: list[str]) -> str:
    one, other = chance.choice(columns), chance.choice(columns)
    atoms = [f"{one} = 1", f"{other} > 0", f"{one} IN (1, 2)", f"({one} > 2 OR {other} = 0)", f"NOT {other} = 2", f"{one} IS NULL"]
    atoms += [f"{one} + {other} < 4", f"{one} BETWEEN 1 AND 3", f"{one} <=> {other}", "r.a > 1"]
    atoms += ["EXISTS (SELECT 1 FROM s AS t WHERE t.k = r.g AND t.b > 1)", "r.x IN (SELECT y FROM s AS t WHERE t.b < 3)"]
    atoms += ["NOT EXISTS (SELECT 1 FROM s AS t WHERE t.y = r.x)", "r.g NOT IN (SELECT k FROM s AS t WHERE t.b = 1)"]
    chosen = chance.sample(atoms, chance.choice([0, 1, 1, 2]))
    return f" WHERE {' AND '.join(chosen)}" if chosen else ""


def _same(chance: random.Random, text: str, names: list[str]) -> str:
    return text


def _first(chance: random.Random, text: str, names: list[str]) -> str:
    order = ", ".join(f"{name} {chance.choice(['ASC', 'DESC'])}" for name in names)
    return f"{text} ORDER BY {order} LIMIT {chance.randint(1, 9)}{chance.choice(['', ' OFFSET 2'])}"


def _distinct(chance: random.Random, text: str, names: list[str]) -> str:
    return f"SELECT DISTINCT {names[0]} FROM ({text}) q"


def _beside(chance: random.Random, text: str, names: list[str]) -> str:
    name = names[-1]
    return chance.choice(
        [
            f"SELECT {name} FROM ({text}) q UNION ALL SELECT y FROM s WHERE b > 1",
            f"SELECT {name} FROM ({text}) q WHERE {name} = (SELECT max(b) FROM s)",
            f"SELECT q.*, t.n FROM ({text}) q JOIN (SELECT k, count(*) AS n FROM s GROUP BY k) t ON q.{name} = t.k",
            f"SELECT q.*, t.n FROM ({text}) q LEFT JOIN (SELECT g, sum(a) AS n FROM r GROUP BY g HAVING sum(a) > 2) t ON q.{name} = t.g",
            f"SELECT {names[0]} FROM ({text}) q EXCEPT ALL SELECT k FROM s",
        ]
    )


def _counted(chance: random.Random, text: str, names: list[str]) -> str:
    return f"SELECT {names[0]}, count(*) AS n FROM ({text}) q GROUP BY {names[0]}"


def _below(chance: random.Random, text: str, names: list[str]) -> str:
    return f"WITH q AS ({text}) SELECT q.{names[0]}, u.{names[-1]} AS other FROM q JOIN q AS u ON q.{names[0]} = u.{names[0]}"
