"""Shapes of queries with constants, for attacks on the whole driver."""

from __future__ import annotations

import random


def reusable(chance: random.Random) -> str:
    """A query whose row conditions have constants: on keys, within groups, on both sides of a join."""
    functions = ["sum(r.a)", "count(*)", "count(*)", "max(r.a)", "min(r.a)", "min(r.a)", "min(r.x)", "avg(r.a)", "count(DISTINCT r.a)"]
    functions += ["sum(CASE WHEN r.x > 1 THEN r.a ELSE 0 END)", "count(*) FILTER (WHERE r.a > 1)", "sum(COALESCE(r.a, 1))"]
    functions += ["max(IF(r.x = 2, r.a, NULL))", "count_if(r.x > r.a)", "min(NULLIF(r.a, 0))"]
    function = chance.choice(functions)
    atoms = [
        "r.x > 1",
        "r.x >= 0",
        "r.a >= 0",
        "r.a >= 0",
        "r.a < 4",
        "r.x < 3",
        "r.g > 0",
        "r.g <= 3",
        "r.g = 1",
        "r.x <> 2",
        "NOT r.x = 1",
    ]
    atoms += ["r.g NOT IN (SELECT k FROM s)", "EXISTS (SELECT 1 FROM s WHERE s.k = r.g AND s.b > 0)"]
    where = " AND ".join(chance.sample(atoms, chance.randint(1, 3)))
    key = chance.choice(["g", "g", "x"])
    source = chance.choice(["r", "r", "r", "r JOIN s ON r.g = s.k AND s.b > 0"])
    text = f"SELECT r.{key}, {function} AS f FROM {source} WHERE {where} GROUP BY r.{key}"
    if chance.random() < 0.15:
        conditions = f"c.f {chance.choice(['>', '<'])} 2 AND d.f {chance.choice(['>=', '='])} 1"
        return f"WITH b AS ({text}) SELECT c.{key}, d.f FROM b c JOIN b d ON c.{key} = d.{key} WHERE {conditions}"
    if chance.random() < 0.25:
        return f"{text} ORDER BY f{chance.choice(['', ' DESC'])}, {key} LIMIT 2"
    return f"{text} HAVING {function} {chance.choice(['>', '>=', '<', '='])} 2"


def of_rows(chance: random.Random) -> str:
    """A query whose rows come from rows of a table one by one, bare or below something that needs them all."""
    atoms = ["r.x > 1", "r.a >= 2", "r.g <> 3", "r.id < 40", "r.a IN (1, 2)", "EXISTS (SELECT 1 FROM s WHERE s.k = r.g AND s.b > 1)"]
    if chance.random() < 0.3:
        return f"SELECT r.id, r.a FROM r WHERE r.a IN ({chance.randint(0, 3)})"
    atoms += ["r.g IN (SELECT k FROM s)", "r.x NOT IN (SELECT y FROM s WHERE y > 2)", "r.a > (SELECT min(b) FROM s WHERE s.k = r.g)"]
    joins = [
        "r",
        "r",
        "r JOIN s ON r.g = s.k",
        "r JOIN s ON r.x = s.y AND s.b < 3",
        "r LEFT JOIN s ON r.g = s.k",
        "s LEFT JOIN r ON r.g = s.k",
    ]
    source = f"{chance.choice(joins)} WHERE {' AND '.join(chance.sample(atoms, chance.randint(1, 2)))}"
    return chance.choice(
        [
            f"SELECT r.id, r.a FROM {source}",
            f"SELECT DISTINCT r.a FROM {source}",
            f"SELECT count(*) AS n, sum(r.a) AS f FROM {source}",
            f"SELECT r.x + 1 AS k, avg(r.a) AS f FROM {source} GROUP BY r.x + 1",
            f"SELECT r.x + 1 AS k, count(*) AS f FROM {source} GROUP BY r.x + 1 HAVING count(*) > 2",
            f"SELECT r.id FROM {source} ORDER BY r.id, r.g, r.x, r.a LIMIT 3",
            f"SELECT id FROM s WHERE b > 0 UNION ALL SELECT r.id FROM {source}",
            f"SELECT id FROM s EXCEPT SELECT r.id FROM {source}",
        ]
    )


def joins(chance: random.Random) -> str:
    """Groups over inner joins of two or three occurrences of the tables."""
    source = chance.choice(["r JOIN s ON r.g = s.k", "r JOIN s ON s.y = r.x AND r.a < 4", "r JOIN r s ON r.g = s.x"])
    other = {"k": "g", "y": "x", "b": "a"} if source.startswith("r JOIN r") else {"k": "k", "y": "y", "b": "b"}
    if chance.random() < 0.5:
        third = chance.choice(["r t ON t.g = s.{k}", "s t ON t.k = r.x AND t.b < 4", "s t ON t.k = s.{k} AND t.y = r.x"])
        source += f" JOIN {third.format(k=other['k'])}"
    where = chance.choice(["", f" WHERE s.{other['b']} > 0", " WHERE r.a <> 3", f" WHERE r.x < s.{other['y']}"])
    key = chance.choice(["r.g", "r.g", "r.x", f"s.{other['k']}"])
    function = chance.choice(["sum(r.a)", "count(*)", "max(r.a)", f"min(s.{other['b']})", f"count(DISTINCT s.{other['b']})"])
    return f"SELECT {key}, {function} AS f FROM {source}{where} GROUP BY {key} HAVING {function} {chance.choice(['>', '<', '='])} 2"


def nested(chance: random.Random) -> str:
    """Groups over operators that compare rows with each other, most of which follow changes in process."""
    inner = chance.choice(["count(*)", "max(b)", "min(b)", "sum(b)", "count(b)"])
    having = f"HAVING {inner} {chance.choice(['>', '<='])} {chance.randint(0, 3)}"
    source, key = chance.choice(
        [
            ("r WHERE r.g IN (SELECT k FROM s WHERE b > 0)", "g"),
            (f"r WHERE r.g IN (SELECT k FROM s WHERE k IS NOT NULL GROUP BY k {having})", "g"),
            (f"r WHERE r.x IN (SELECT y FROM s GROUP BY y, k {having})", "g"),
            ("r WHERE EXISTS (SELECT 1 FROM s WHERE s.k = r.g AND s.b > r.a)", "x"),
            ("r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.g AND s.y = r.x)", "g"),
            ("r JOIN s ON r.g = s.k WHERE NOT EXISTS (SELECT 1 FROM r t WHERE t.x = s.y AND t.a > 2)", "g"),
            ("r LEFT JOIN s ON r.g = s.k AND s.b > 1", "g"),
            ("r LEFT JOIN s ON s.y = r.x WHERE s.b IS NULL OR s.b < 3", "g"),
            ("r LEFT JOIN s q ON q.k = r.g JOIN s ON s.y = q.y", "x"),
            ("(SELECT g, x, a FROM r WHERE a > 1 UNION ALL SELECT k, y, b FROM s) r", "g"),
            ("(SELECT g, x, a FROM r UNION SELECT k, y, b FROM s) r", "g"),
            ("(SELECT DISTINCT g, x, a FROM r) r JOIN s ON r.x = s.y", "g"),
            ("(SELECT DISTINCT x AS g, g + 1 AS a FROM r) r", "g"),
            (f"r JOIN (SELECT k, {inner} AS n FROM s WHERE k >= 0 GROUP BY k {having}) q ON q.k = r.g", "g"),
            (f"r LEFT JOIN (SELECT k, {inner} AS n FROM s WHERE k >= 0 GROUP BY k) q ON q.k = r.x AND q.n > 1", "g"),
        ]
    )
    function = chance.choice(["sum(r.a)", "count(*)", "max(r.a)", "count(DISTINCT r.a)"])
    return f"SELECT r.{key}, {function} AS f FROM {source} GROUP BY r.{key} HAVING {function} {chance.choice(['>', '<', '='])} 2"


def absent(chance: random.Random) -> str:
    """Groups over NOT IN, where NULL on either side decides."""
    condition = chance.choice(
        [
            "r.g NOT IN (SELECT k FROM s)",
            f"r.g NOT IN (SELECT k FROM s WHERE b > {chance.randint(0, 3)})",
            f"r.x NOT IN (SELECT y FROM s WHERE y > {chance.randint(0, 3)})",
            "r.x NOT IN (SELECT y FROM s WHERE b > 2 AND k = 2)",
            "(r.g, r.x) NOT IN (SELECT k, y FROM s WHERE b > 1)",
            "r.g + 1 NOT IN (SELECT k FROM s WHERE y = 2)",
        ]
    )
    function, key = chance.choice(["sum(r.a)", "count(*)", "max(r.a)"]), chance.choice(["g", "x"])
    return f"SELECT r.{key}, {function} AS f FROM r WHERE {condition} GROUP BY r.{key} HAVING {function} {chance.choice(['>', '<', '='])} 2"


def two_sided(chance: random.Random) -> str:
    """Groups over operators where both sides decide which rows there are: full joins, joins by conditions, set operations, NOT IN."""
    on = chance.choice(["s.k = r.g", "s.k = r.g AND s.b > r.a", "s.y = r.x AND r.a > 1", "s.b > r.a", "s.k < r.g AND s.y = 2"])
    operation = chance.choice(["INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"])
    one, other = chance.choice([("g, x", "k, y"), ("g, a", "k, b"), ("g, x, a", "k, y, b")])
    sources = [
        f"r FULL JOIN s ON {on}",
        f"r FULL JOIN s ON {on}",
        f"r FULL JOIN s ON {on} WHERE {chance.choice(['r.a IS NULL', 's.b > 1', 'r.a > 1 OR s.b > 1'])}",
        f"(SELECT * FROM r WHERE a > 1) r FULL JOIN (SELECT DISTINCT k, y, b FROM s) s ON {on}",
        f"r LEFT JOIN s ON {on}",
        f"r JOIN s ON {on}",
        f"r JOIN r t ON {chance.choice(['t.a > r.a', 't.g <> r.g', 't.a + r.a = 3'])} JOIN s ON s.k = t.x",
        "(SELECT * FROM r WHERE x NOT IN (SELECT y FROM s WHERE k = 2 AND y IS NOT NULL)) r JOIN s ON r.g = s.k",
    ]
    filtered = [
        f"r WHERE {chance.choice(['', 'NOT '])}EXISTS (SELECT 1 FROM s WHERE {on})",
        f"r WHERE EXISTS (SELECT 1 FROM s WHERE b > {chance.randint(2, 4)})",
        f"r WHERE g NOT IN (SELECT k FROM s WHERE b > {chance.randint(0, 3)})",
    ]
    combined = [
        f"(SELECT {one} FROM r {operation} SELECT {other} FROM s) r",
        f"(SELECT {one} FROM r WHERE a > 1 {operation} SELECT {other} FROM s) r JOIN s ON s.k = r.g",
    ]
    source = chance.choice([*sources, *filtered, *combined])
    key = chance.choice(["r.g", "r.g", "s.k", "coalesce(r.g, s.k)"] if source in sources else ["r.g"])
    functions = ["count(*)", "count(r.g)", "max(r.g)"] + (["sum(r.a)", "count(DISTINCT r.x)"] if source not in combined else [])
    return f"SELECT {key} AS k, {chance.choice(functions)} AS f FROM {source} GROUP BY {key}"


def above_groups(chance: random.Random) -> str:
    """Return a query all rows of which come from groups, with every operator above them."""
    one = chance.choice(
        [
            "SELECT g, x, sum(a) AS s, count(*) AS n FROM r GROUP BY g, x",
            "SELECT g, max(x) AS x, sum(a) AS s, count(a) AS n FROM r WHERE a < 4 GROUP BY g",
            "SELECT g, x, min(a) AS s, count(DISTINCT a) AS n FROM r GROUP BY g, x HAVING count(*) > 1",
        ]
    )
    other = chance.choice(
        [
            "SELECT k, sum(b) AS t, max(y) AS m FROM s GROUP BY k",
            "SELECT y AS k, count(*) AS t, min(b) AS m FROM s WHERE b > 0 GROUP BY y",
        ]
    )
    sign, number = chance.choice(["=", "<", ">", "<=", "<>"]), chance.randint(-1, 4)
    join = chance.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
    on = chance.choice(["u.g = v.k", "u.g = v.k AND u.s > v.t", "u.s = v.t", f"u.g = v.k AND v.m {sign} {number}", f"u.s {sign} v.t"])
    operation = chance.choice(["UNION ALL", "UNION", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"])
    negation, member = chance.choice(["", "NOT "]), chance.choice(["k", "m"])
    scalar = chance.choice(
        [
            f"SELECT {chance.choice(['avg(t)', 'max(t)', 'sum(m)', 'count(*)'])} FROM ({other}) v",
            f"SELECT t FROM ({other}) v ORDER BY k, t LIMIT 1",
        ]
    )
    columns_of_both = chance.choice([("g, s", "k, t"), ("x, n", "m, t"), ("n, n", "t, t")])
    query, columns = chance.choice(
        [
            (f"SELECT u.g, u.s, v.t FROM ({one}) u {join} ({other}) v ON {on}", ["g", "s", "t"]),
            (f"SELECT u.g, u.s, v.t FROM ({one}) u {join} ({other}) v ON {on} WHERE u.n > 1", ["g", "s", "t"]),
            (f"SELECT g, x, s FROM ({one}) u WHERE g {negation}IN (SELECT {member} FROM ({other}) v)", ["g", "x", "s"]),
            (f"SELECT g, x, s FROM ({one}) u WHERE {negation}EXISTS (SELECT 1 FROM ({other}) v WHERE v.k = u.g)", ["g", "x", "s"]),
            (
                f"SELECT {columns_of_both[0]} FROM ({one}) u {operation} SELECT {columns_of_both[1]} FROM ({other}) v",
                [columns_of_both[0][0]],
            ),
            (f"SELECT x, sum(s) AS a, count(*) AS b, min(n) AS c FROM ({one}) u GROUP BY x HAVING count(s) {sign} {number}", ["x", "a"]),
            (f"SELECT g, s FROM ({one}) u WHERE s {sign} ({scalar})", ["g", "s"]),
            (f"SELECT g, s FROM ({one}) u WHERE ({scalar}) IS NULL", ["g", "s"]),
            (f"SELECT DISTINCT x, n {sign} {number} AS c FROM ({one}) u", ["x", "c"]),
            (f"SELECT count(*) AS a, sum(s) AS b, avg(n) AS c FROM ({one}) u WHERE n {sign} {number}", ["a", "b"]),
            ("SELECT count(*) AS a, sum(b) AS b, max(y) AS c FROM s", ["a", "b"]),
        ]
    )
    if chance.random() < 0.6:
        query += " ORDER BY " + ", ".join(
            f"{column}{chance.choice(['', ' DESC'])}{chance.choice(['', ' NULLS FIRST', ' NULLS LAST'])}"
            for column in chance.sample(columns, chance.randint(1, len(columns)))
        )
        if chance.random() < 0.4:
            query += f" LIMIT {chance.randint(1, 4)}" + chance.choice(["", " OFFSET 1"])
    return query
