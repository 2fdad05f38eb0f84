"""Random queries over the tables of the attack, in every shape that the calculus has a rule for."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(slots=True)
class Queries:
    """Makes queries; every choice comes from ``chance``."""

    chance: random.Random
    aliases: int = 0

    def query(self) -> str:
        return self.chance.choices(
            [
                self.simple,
                self.focused,
                self.grouped,
                self.rows,
                self.above_groups,
                self.above_top,
                self.set_operation,
                self.distinct,
                self.scalar_aggregate,
            ],
            weights=[6, 6, 6, 2, 4, 2, 2, 2, 1],
        )[0]()

    def alias(self) -> str:
        self.aliases += 1
        return f"t{self.aliases}"

    def one_of(self, *choices: str) -> str:
        return self.chance.choice(choices)

    def number(self) -> int:
        return self.chance.randint(-1, 5)

    def source(self) -> tuple[str, list[str], list[str]]:
        """Return FROM with WHERE, the columns usable as keys and those usable as values."""
        kind = self.chance.random()
        if kind < 0.5:
            one = self.alias()
            return f"r {one}{self.where([one])}", [f"{one}.g", f"{one}.x"], [f"{one}.a"]
        if kind < 0.62:
            return self.derived()
        if kind < 0.72:
            one, other = self.alias(), self.alias()
            condition = self.one_of(f"{one}.g = {other}.g", f"{one}.x = {other}.g", f"{one}.id < {other}.id AND {one}.g = {other}.g")
            text = f"r {one} JOIN r {other} ON {condition}{self.where([one, other])}"
            return text, [f"{one}.g", f"{one}.x", f"{other}.g", f"{other}.x"], [f"{one}.a", f"{other}.a"]
        one, other = self.alias(), self.alias()
        join = self.one_of("JOIN", "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN")
        condition = self.one_of(
            f"{one}.g = {other}.k",
            f"{one}.g = {other}.k",
            f"{one}.x = {other}.y",
            f"{other}.k >= {one}.g",
            f"{one}.g = {other}.k AND {one}.x = {other}.y",
        )
        text = f"r {one} {join} s {other} ON {condition}"
        if self.chance.random() < 0.4:
            text += f" WHERE {self.predicate([f'{one}.x', f'{other}.y', f'{other}.b', f'{one}.a'])}"
        return text, [f"{one}.g", f"{one}.x", f"{other}.k", f"{other}.y"], [f"{one}.a", f"{other}.b"]

    def derived(self) -> tuple[str, list[str], list[str]]:
        one = self.alias()
        branches = self.one_of(
            "SELECT g, x, a FROM r UNION ALL SELECT k, y, b FROM s",
            "SELECT g, x, a FROM r WHERE a > 1 UNION ALL SELECT g, x, a FROM r WHERE x < 2",
            "SELECT g, x, a FROM r UNION SELECT k, y, b FROM s",
            "SELECT DISTINCT g, x, a FROM r",
            "SELECT x AS g, g AS x, a + 1 AS a FROM r",
            "SELECT g, x, sum(a) AS a FROM r GROUP BY g, x",
            "SELECT g, max(x) AS x, count(*) AS a FROM r GROUP BY g HAVING count(*) > 1",
            "SELECT g, x, a FROM r ORDER BY g, x, a LIMIT 3",
            "SELECT g, x, a FROM r ORDER BY a DESC LIMIT 2",
            f"SELECT g, x, a FROM {self.ranked('n <= 2')}",
            "SELECT g, x, sum(a) OVER (PARTITION BY g) AS a FROM r",
            "SELECT g, x, a FROM r EXCEPT SELECT k, y, b FROM s",
            "SELECT g, x, a FROM r INTERSECT SELECT k, y, b FROM s",
        )
        return f"({branches}) {one}", [f"{one}.g", f"{one}.x"], [f"{one}.a"]

    def where(self, aliases: list[str]) -> str:
        if self.chance.random() < 0.55:
            return ""
        parts = []
        for _ in range(self.chance.randint(1, 2)):
            one = self.chance.choice(aliases)
            kind = self.chance.random()
            if kind < 0.5:
                parts.append(self.predicate([f"{one}.a", f"{one}.x", f"{one}.g"]))
            elif kind < 0.7:
                inner, negation = self.alias(), self.one_of("", "NOT ")
                extra = self.one_of("", f" AND {inner}.b > {self.number()}", f" AND {inner}.y = {one}.x", f" AND {inner}.b < {one}.a")
                parts.append(f"{negation}EXISTS (SELECT 1 FROM s {inner} WHERE {inner}.k = {one}.g{extra})")
            elif kind < 0.85:
                operator, inner = (
                    self.one_of("IN", "NOT IN"),
                    self.one_of("SELECT k FROM s", "SELECT k FROM s WHERE b > 1", "SELECT k FROM s GROUP BY k HAVING count(*) > 1"),
                )
                parts.append(f"{one}.g {operator} ({inner})")
            else:
                inner = self.alias()
                subquery = self.one_of(
                    "SELECT avg(a) FROM r",
                    "SELECT max(b) FROM s",
                    f"SELECT sum({inner}.b) FROM s {inner} WHERE {inner}.k = {one}.g",
                    f"SELECT count(*) FROM r {inner} WHERE {inner}.g = {one}.g",
                )
                parts.append(f"{one}.a {self.comparison()} ({subquery})")
        return " WHERE " + " AND ".join(parts)

    def comparison(self) -> str:
        return self.one_of("<", "<=", ">", ">=", "=", "<>")

    def predicate(self, columns: list[str]) -> str:
        column = self.chance.choice(columns)
        return self.one_of(
            f"{column} {self.comparison()} {self.number()}",
            f"{column} {self.comparison()} {self.number()}",
            f"{column} >= 0",
            f"{column} IS NULL",
            f"{column} IS NOT NULL",
            f"{column} = {self.chance.choice(columns)}",
            f"({column} > {self.number()} OR {self.chance.choice(columns)} < {self.number()})",
            f"NOT {column} = {self.number()}",
            f"{column} BETWEEN {self.number()} AND {self.number()}",
            f"{column} IN (1, {self.number()})",
        )

    def function(self, values: list[str], keys: list[str]) -> str:
        value = self.chance.choice(values)
        return self.one_of(
            f"sum({value})",
            f"sum({value})",
            "count(*)",
            f"count({value})",
            f"min({value})",
            f"max({value})",
            f"avg({value})",
            f"count(DISTINCT {value})",
            f"sum(DISTINCT {value})",
            f"sum({value} * {value})",
            f"sum(-{value})",
            f"sum(3 - {value})",
            f"sum(CASE WHEN {self.chance.choice(keys)} > 1 THEN {value} ELSE -2 END)",
            f"sum(CASE WHEN {self.chance.choice(keys)} > 1 THEN {value} ELSE 0 END)",
            f"count(*) FILTER (WHERE {self.chance.choice(keys)} > 1)",
        )

    def having(self, functions: list[str], keys: list[str]) -> str:
        function = self.chance.choice(functions)
        atoms = [
            lambda: f"{self.chance.choice(functions)} {self.comparison()} {self.number()}",
            lambda: f"{self.chance.choice(functions)} {self.one_of('>', '>=', '<')} {self.number()}",
            lambda: f"{function} BETWEEN {self.number()} AND {self.number() + 2}",
            lambda: f"{self.chance.choice(functions)} > {self.chance.choice(functions)}",
            lambda: f"2 * {function} - 1 > {self.number()}",
            lambda: f"-{function} < {self.number()}",
            lambda: f"coalesce({function}, 9) > {self.number()}",
            lambda: f"{function} IS NULL",
            lambda: f"{function} > (SELECT avg(a) FROM r)",
            lambda: f"{self.chance.choice(keys)} > {self.number()}" if keys else f"{function} > 1",
            lambda: f"NOT {function} > {self.number()}",
        ]
        parts = [self.chance.choice(atoms)() for _ in range(self.chance.randint(1, 2))]
        if len(parts) == 2 and self.chance.random() < 0.4 and "SELECT" not in "".join(parts):
            return f"({parts[0]} OR {parts[1]})"
        return " AND ".join(parts)

    def block(self) -> tuple[str, list[str], list[str]]:
        """Return a grouped SELECT, the aliases of its keys and of its functions."""
        source, columns, values = self.source()
        keys = self.chance.sample(columns, self.chance.randint(1, min(2, len(columns))))
        if self.chance.random() < 0.1:
            keys[0] = f"{keys[0]} * 0 + {keys[0]} - {keys[0]}"
        functions = [self.function(values, columns) for _ in range(self.chance.randint(1, 2))]
        items = [f"{key} AS k{place}" for place, key in enumerate(keys)]
        items += [f"{function} AS f{place}" for place, function in enumerate(functions)]
        text = f"SELECT {', '.join(items)} FROM {source} GROUP BY {', '.join(keys)}"
        if self.chance.random() < 0.7:
            plain = [key for key in keys if " " not in key]
            text += f" HAVING {self.having(functions, plain)}"
        return text, [f"k{place}" for place in range(len(keys))], [f"f{place}" for place in range(len(functions))]

    def order(self, keys: list[str], functions: list[str]) -> str:
        items = [f"{name}{self.one_of('', ' DESC', ' DESC', ' NULLS LAST', ' DESC NULLS FIRST')}" for name in functions]
        ends = [f"{key}{self.one_of('', ' DESC')}" for key in keys]
        if self.chance.random() < 0.25:
            ends = ends[:-1]
        chosen = [*items[: self.chance.randint(0, len(items))], *ends] or ["1"]
        offset = self.one_of("", "", "", " OFFSET 1")
        return f" ORDER BY {', '.join(chosen)} LIMIT {self.chance.randint(1, 3)}{offset}"

    def simple(self) -> str:
        """One table, one function, one condition or one order: each rule of groups on its own."""
        function = self.function(["a"], ["x"])
        text = f"SELECT g, {function} AS f FROM r GROUP BY g"
        if self.chance.random() < 0.65:
            return text + f" HAVING {self.one_of('', '', '-', 'NOT ')}{function} {self.comparison()} {self.number()}"
        direction = self.one_of("", " DESC", " NULLS LAST", " DESC NULLS FIRST")
        return text + f" ORDER BY f{direction}{self.one_of(', g', ', g', '')} LIMIT {self.chance.randint(1, 2)}"

    def focused(self) -> str:
        """Shapes in which one rule decides."""
        number, comparison = self.number(), self.comparison()
        inner = self.one_of("sum(a)", "count(*)", "max(a)", "min(a)", "sum(-a)")
        block = f"SELECT g, {inner} AS f FROM r GROUP BY g{self.one_of('', f' HAVING {inner} {comparison} {number}')}"
        union = self.one_of("SELECT k FROM s", "SELECT k FROM s WHERE b > 1", "SELECT x FROM r")
        partner = self.one_of("s.k = r.g AND s.y = r.x", "s.y = r.x", "s.k = r.g AND s.b > r.a")
        exists = f"EXISTS (SELECT 1 FROM s WHERE {partner})"
        rank = self.one_of(
            "n <= 1", "n <= 2", "n < 3", "n = 1", "n = 2", "n >= 2", "2 >= n", "n <> 1", "n <= 2 AND g = 1", "n <= 1 OR g = 1"
        )
        return self.one_of(
            f"SELECT g, x, n FROM {self.ranked(rank)}",
            f"SELECT g, x FROM {self.ranked(rank)}",
            f"SELECT g, x, a FROM r ORDER BY a{self.one_of('', ' DESC')} LIMIT 2{self.one_of('', ' OFFSET 1')}",
            f"SELECT f, count(*) AS n FROM ({block}) t GROUP BY f HAVING count(*) {comparison} {self.one_of('1', '2')}",
            f"SELECT count(*) AS n FROM (SELECT DISTINCT f FROM ({block}) t) u HAVING count(*) {comparison} {self.one_of('1', '2')}",
            f"SELECT t.g, t.f, s.id FROM ({block}) t JOIN s ON s.b {comparison} t.f",
            f"SELECT g FROM ({block}) t WHERE (SELECT max(b) FROM s WHERE s.k = t.f) {comparison} {number}",
            f"SELECT g FROM ({block}) t WHERE EXISTS (SELECT 1 FROM s WHERE s.k {comparison} t.f)",
            f"SELECT g, count(*) AS n FROM (SELECT g FROM r UNION ALL {union}) t GROUP BY g HAVING count(*) {comparison} {number}",
            f"SELECT g, count(*) AS n FROM r WHERE {exists} GROUP BY g HAVING count(*) {comparison} {number}",
            f"SELECT r.id, s.id FROM r {self.one_of('LEFT', 'FULL', 'RIGHT')} JOIN s ON s.k = r.g{self.one_of('', ' AND s.y = r.x')}",
            f"SELECT id FROM r WHERE {self.one_of('g', 'x')} NOT IN ({union})",
            f"SELECT g, x FROM r {self.one_of('EXCEPT', 'EXCEPT ALL', 'INTERSECT')} SELECT {self.one_of('k, y', 'y, k')} FROM s",
            f"SELECT g, f FROM ({block}) t WHERE f BETWEEN {number} AND {number + 2}",
            f"SELECT g, avg(a) AS f FROM r GROUP BY g HAVING sum(a) > {number} AND avg(a) {comparison} {number}",
            f"SELECT -f AS m, count(*) AS n FROM ({block}) t WHERE -f {comparison} {number} GROUP BY -f",
            f"SELECT g FROM r GROUP BY g HAVING coalesce({inner}, {number}) {comparison} {number}",
        )

    def ranked(self, condition: str) -> str:
        """Return a derived table with ranks, and a condition on them."""
        order = self.one_of("a", "a DESC", "a NULLS LAST, x", "a, id, g, x", "a DESC, x DESC, g, id", "x, a, g, id")
        function, partition = self.one_of("row_number", "rank", "dense_rank"), self.one_of("", "PARTITION BY g ", "PARTITION BY x ")
        source = self.one_of("r", "r", "r", "r WHERE a > 0", "r WHERE g IN (SELECT k FROM s)")
        distinct = "(SELECT DISTINCT 0 AS id, g, x, a FROM r) d"
        groups = "(SELECT 0 AS id, g, max(x) AS x, count(*) AS a FROM r GROUP BY g) d"
        rows = self.one_of(source, source, source, source, distinct, groups)
        return f"(SELECT *, {function}() OVER ({partition}ORDER BY {order}) AS n FROM {rows}) w WHERE {condition}"

    def grouped(self) -> str:
        text, keys, functions = self.block()
        return text + (self.order(keys, functions) if self.chance.random() < 0.45 else "")

    def rows(self) -> str:
        source, keys, values = self.source()
        text = f"SELECT {', '.join([*keys, *values])} FROM {source}"
        if self.chance.random() < 0.3:
            text += f" ORDER BY {', '.join([*values, *keys])} LIMIT 2"
        return text

    def above_groups(self) -> str:
        text, keys, functions = self.block()
        if self.chance.random() < 0.3:
            text += self.order(keys, functions)
        function = functions[0]
        return self.one_of(
            f"SELECT {function}, count(*) AS n FROM ({text}) b GROUP BY {function} HAVING count(*) {self.comparison()} 1",
            f"SELECT count(*) AS n, sum({function}) AS t FROM ({text}) b",
            f"SELECT {keys[0]} FROM ({text}) b WHERE {function} {self.comparison()} {self.number()}",
            f"SELECT b.{keys[0]}, {function}, s.b FROM ({text}) b JOIN s ON s.k = b.{keys[0]} WHERE s.y > 0",
            f"SELECT {keys[0]}, max({function}) AS m FROM ({text}) b GROUP BY {keys[0]} HAVING max({function}) {self.comparison()} 2",
            f"SELECT DISTINCT {keys[0]} FROM ({text}) b",
            f"SELECT id, a FROM r WHERE g IN (SELECT {keys[0]} FROM ({text}) b) AND a > 0",
            f"SELECT id, a FROM r WHERE NOT EXISTS (SELECT 1 FROM ({text}) b WHERE b.{keys[0]} = r.g)",
        )

    def above_top(self) -> str:
        one = self.alias()
        number, order = self.chance.randint(1, 3), self.one_of("a DESC, g, x", "a DESC, g, x", "a DESC")
        top = self.one_of(
            f"(SELECT g, x, a FROM r ORDER BY {order} LIMIT {number}) {one}",
            f"(SELECT g, x, a FROM r ORDER BY {order} LIMIT {number}) {one}",
            f"(SELECT g, x, a FROM {self.ranked(f'n <= {number}')}) {one}",
        )
        return self.one_of(
            f"SELECT {one}.g, {one}.x FROM {top} WHERE {one}.g = 1",
            f"SELECT {one}.g, s.b FROM {top} JOIN s ON s.k = {one}.g",
            f"SELECT {one}.g, sum({one}.a) AS f FROM {top} GROUP BY {one}.g HAVING sum({one}.a) {self.comparison()} 2",
            f"SELECT {one}.g FROM {top} WHERE {one}.g IN (SELECT k FROM s)",
        )

    def set_operation(self) -> str:
        operator = self.one_of("UNION", "UNION ALL", "EXCEPT", "INTERSECT", "EXCEPT ALL", "INTERSECT ALL")
        left = self.one_of(
            "SELECT g, x FROM r WHERE a > 0", "SELECT g, x FROM r", "SELECT g, count(*) AS x FROM r GROUP BY g HAVING count(*) > 1"
        )
        right = self.one_of("SELECT k, y FROM s", "SELECT k, y FROM s WHERE b > 1", "SELECT x, g FROM r", "SELECT g, x FROM r WHERE a < 2")
        return f"{left} {operator} {right}"

    def distinct(self) -> str:
        source, keys, _ = self.source()
        inner = f"SELECT DISTINCT {keys[0]} AS p FROM {source}"
        return self.one_of(
            inner,
            f"SELECT p, count(*) AS n FROM ({inner}) d GROUP BY p",
            f"SELECT count(*) AS n FROM ({inner}) d HAVING count(*) {self.comparison()} 2",
        )

    def scalar_aggregate(self) -> str:
        source, keys, values = self.source()
        functions = [self.function(values, keys)]
        text = f"SELECT {functions[0]} AS f FROM {source}"
        return text + (f" HAVING {self.having(functions, [])}" if self.chance.random() < 0.6 else "")
