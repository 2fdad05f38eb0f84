"""Queries with nested aggregates, of the class of the RPAI paper (4.1) and around it, whose constants are drawn anew each time.

SUM, COUNT, AVG, MIN and MAX, arithmetic over them, AND, OR and NOT, all comparisons, one to three levels, correlated with the query
around or with the outermost one by equalities, inequalities or both; products of two relations, groups, HAVING, CASE, the SELECT list,
EXISTS and IN.

What DuckDB computes otherwise than Spark is left out: averages and quotients of decimals.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_LESS_OR_MORE = ("<", "<", "<=", "<=", ">", ">", ">=", ">=")
_COMPARISONS = (*_LESS_OR_MORE, "=", "=", "<>")
_FACTORS = ("0.25", "0.5", "0.75", "0.75", "1.5", "0.1", "2", "3")
_NUMBERS = ("-1", "0", "0", "1", "2", "3", "5", "8", "12", "2.5")
_AGGREGATES = (
    *("SUM({0}.a)", "SUM({0}.a)", "SUM({0}.a)", "SUM({0}.a)", "SUM({0}.x * {0}.a)", "SUM({0}.m)", "SUM({0}.w)", "SUM({0}.m * {0}.a)"),
    *("COUNT(*)", "COUNT(*)", "COUNT({0}.a)", "COUNT(DISTINCT {0}.x)", "AVG({0}.a)", "AVG({0}.a)", "AVG({0}.w)", "AVG({0}.x + {0}.a)"),
    *("MIN({0}.x)", "MAX({0}.a)", "MIN({0}.m)", "MAX({0}.w)", "MAX({0}.x * {0}.a)", "SUM(DISTINCT {0}.a)"),
    *("SUM({0}.a) + COUNT(*)", "2 * SUM({0}.a) - MAX({0}.x)", "COALESCE(SUM({0}.a), 0)", "-SUM({0}.a)", "SUM({0}.a) / 4"),
    *("SUM(CASE WHEN {0}.x > 1 THEN {0}.a ELSE 0 END)", "SUM({0}.a) FILTER (WHERE {0}.g > 0)", "MAX({0}.a) - MIN({0}.a)"),
)
_DATES = ("MIN({0}.d)", "MAX({0}.d)")
_INEQUALITIES = (
    *("{i}.x {c} {o}.x",) * 6,
    *(
        "{i}.x {c} {o}.x + 1",
        "2 * {i}.x {c} {o}.x + 3",
        "{i}.x {c} 2 * {o}.x",
        "{i}.x + {i}.g {c} {o}.x",
        "{o}.x {c} {i}.x",
        "-{i}.x {c} {o}.x",
    ),
    *("{i}.m {c} {o}.m", "{i}.w {c} {o}.w", "{i}.d {c} {o}.d", "{i}.d {c} {o}.d", "{i}.a {c} {o}.a", "{i}.x {c} {o}.a", "{i}.g {c} {o}.g"),
    *("{i}.m {c} {o}.x", "{i}.w {c} {o}.x", "{i}.x - {o}.x {c} 1", "NOT {i}.x {c} {o}.x", "{i}.x {c} {o}.w * 2", "{i}.x * {i}.x {c} {o}.x"),
    *("{i}.x {c} COALESCE({o}.x, 2)", "COALESCE({i}.x, 2) {c} {o}.x", "{i}.x {c} ABS({o}.a)", "{i}.x {c} {o}.x - {o}.a"),
)
_EQUALITIES = (
    *("{i}.g = {o}.g",) * 4,
    *("{i}.x = {o}.x",) * 3,
    *("{i}.d = {o}.d", "{i}.m = {o}.m", "{i}.g = {o}.g + 1", "{i}.x + 1 = {o}.x", "{i}.g <=> {o}.g", "{o}.g = {i}.x", "{i}.w = {o}.x"),
    *("{i}.g = {o}.g AND {i}.x = {o}.x", "{i}.x = {o}.x AND {i}.d = {o}.d", "{i}.x - {i}.g = {o}.x"),
)
_TWO_INEQUALITIES = (
    *("{i}.x >= {o}.x AND {i}.m < {o}.m", "{i}.x BETWEEN {o}.x - 1 AND {o}.x + 1", "{i}.x > {o}.g AND {i}.x <= {o}.x"),
    *("{i}.d >= {o}.d AND {i}.w <= {o}.w", "{i}.x < {o}.x AND {i}.x <= {o}.a", "{i}.x > {o}.x AND {i}.x > {o}.g"),
)
_UNEQUAL = ("{i}.x <> {o}.x", "{i}.g <> {o}.g", "{i}.id <> {o}.id", "NOT {i}.g = {o}.g", "{i}.g = {o}.g AND {i}.id <> {o}.id")
_EITHER = ("({i}.x < {o}.x OR {i}.g = {o}.g)", "({i}.x <= {o}.x OR {i}.a > 1)", "({i}.g = {o}.g OR {o}.x > 2)")
_BY_KEY = (
    "{i}.g {c} {o}.g",
    "{i}.g {c} {o}.g",
    "{i}.x {c} {o}.g",
    "{i}.g = {o}.g",
    "{i}.g = {o}.g",
    "{i}.x = {o}.g + 1",
    "{i}.g = {o}.g AND {i}.x {c} {o}.g",
)
_LOCAL = (
    "{0}.a > {n}",
    "{0}.g = {n}",
    "{0}.x <= {n}",
    "{0}.x IS NOT NULL",
    "{0}.g IN ({n}, {k})",
    "{0}.m < {n}",
    "{0}.a <> 0",
    "{0}.w >= {n}",
)
_COLUMNS = ("{0}.a", "{0}.a", "{0}.x", "{0}.x * {0}.a", "2 * {0}.a", "{0}.m", "{0}.w", "{0}.x + {0}.g")
_ALL = "q.id, q.g, q.x, q.a, q.m, q.w, q.d"
_GROUPED = "MIN(q.id) AS id, q.g, q.x, SUM(q.a) AS a, SUM(q.m) AS m, SUM(q.w) AS w, MAX(q.d) AS d"
MOST_LEVELS = 3


class NestedShape:
    """A template: the structure is drawn once, the constants each time. ``form`` names the outermost block.

    With ``is_plain`` it is of the class for which the paper has indexes: sums over one table or a product, of rows that pass comparisons of
    nested aggregates with what is constant, or correlated too, by an inequality, equalities or both.
    """

    def __init__(self, chance: random.Random, *, is_plain: bool = False) -> None:
        self._seed = chance.random()
        self._is_plain = is_plain
        self.form, self.features = "", frozenset[str]()

    def text(self, constants: random.Random) -> str:
        """Return the query with constants of its own."""
        writer = _Writer(random.Random(self._seed), constants, is_plain=self._is_plain)
        text = writer.query()
        self.form, self.features = writer.form, frozenset(writer.features)
        return text


class _Writer:
    def __init__(self, chance: random.Random, constants: random.Random, *, is_plain: bool) -> None:
        self._chance = chance
        self._is_plain = is_plain
        self._constants = constants
        self._aliases = 0
        self.form = ""
        self.features: set[str] = set()

    def query(self) -> str:
        forms: Sequence[tuple[Callable[[], str], int]] = (
            *((self._sums, 9), (self._rows, 2), (self._product, 4), (self._having, 2)),
            *((self._case, 1), (self._selected, 2), (self._joined, 2), (self._grouped, 3)),
        )
        if self._is_plain:
            forms = ((self._sums, 5), (self._product, 3), (self._grouped, 2))
        form = self._chance.choices([each for each, _ in forms], weights=[weight for _, weight in forms])[0]
        self.form = form.__name__.strip("_")
        return form()

    # The outermost block.

    def _sums(self) -> str:
        return f"SELECT {self._functions('o')} FROM {self._source('o')} WHERE {self._condition(['o'])}"

    def _grouped(self) -> str:
        key = self._chance.choice(["o.g", "o.g", "o.x", "o.d", "o.g + 1"])
        text = f"SELECT {key} AS k, {self._functions('o')} FROM {self._source('o')} WHERE {self._condition(['o'])} GROUP BY {key}"
        return f"{text} HAVING COUNT(*) > {self._number()}" if self._chance.random() < 0.2 else text

    def _rows(self) -> str:
        return f"SELECT o.id, o.x AS c FROM {self._source('o')} WHERE {self._condition(['o'])}"

    def _product(self) -> str:
        """Two relations, each with conditions of its own, and sums of differences as in MST and PSP."""
        one, other = self._chance.choice([("r", "s"), ("r", "s"), ("r", "r")])
        conditions = [self._condition(["o"]) if self._chance.random() < 0.9 else "o.a > 0"]
        if self._chance.random() < 0.8:
            conditions.append(self._condition(["p"]))
        if self._chance.random() < 0.1:
            conditions.append("o.g <= p.g")
        function = self._chance.choice(
            ["SUM(o.x - p.x)", "SUM(o.x * o.a - p.x * p.a)", "COUNT(*)", "SUM(o.a * p.a)", "SUM(o.a)", "MAX(o.x + p.x)", "AVG(o.a - p.a)"]
        )
        head, tail = self._chance.choice(
            [("", ""), ("", ""), ("o.g AS k, ", " GROUP BY o.g"), ("o.g AS k, p.g AS l, ", " GROUP BY o.g, p.g")]
        )
        return f"SELECT {head}{function} AS f FROM {one} o, {other} p WHERE {' AND '.join(conditions)}{tail}"

    def _having(self) -> str:
        left = self._chance.choice(["SUM(o.a)", "COUNT(*)", "AVG(o.a)", "MAX(o.x)", f"{self._factor()} * SUM(o.a)"])
        right = self._nested(["o"], 1, by_key=True)
        where = f" WHERE {self._condition(['o'])}" if self._chance.random() < 0.2 else ""
        text = f"SELECT o.g AS k, SUM(o.a) AS f FROM {self._source('o')}{where} GROUP BY o.g"
        return f"{text} HAVING {left} {self._chance.choice(_COMPARISONS)} {right}"

    def _case(self) -> str:
        head, tail = self._chance.choice([("", ""), ("o.g AS k, ", " GROUP BY o.g")])
        return f"SELECT {head}SUM(CASE WHEN {self._condition(['o'])} THEN o.a ELSE 0 END) AS f FROM {self._source('o')}{tail}"

    def _selected(self) -> str:
        if self._chance.random() < 0.4:
            # Spark has no scalar subquery beside the functions of a GROUP BY.
            groups = f"(SELECT q.g, SUM(q.a) AS a, COUNT(*) AS x FROM r q WHERE q.x > {self._constants.randint(-1, 2)} GROUP BY q.g) o"
            return f"SELECT o.g AS k, o.a AS f, {self._nested(['o'], 1, by_key=True)} AS n FROM {groups}"
        where = f" WHERE {self._condition(['o'])}" if self._chance.random() < 0.3 else ""
        wrapped = self._chance.choice(["{}", "{}", "COALESCE({}, 0)", "o.a - {}", "CASE WHEN o.a > {} THEN 1 ELSE 0 END"])
        return f"SELECT o.id, {wrapped.format(self._nested(['o'], 1))} AS n FROM {self._source('o')}{where}"

    def _joined(self) -> str:
        on = self._chance.choice(["o.g = p.g", "o.x = p.x", "o.d = p.d", "o.g = p.g AND o.x < p.x"])
        kind = self._chance.choice(["JOIN", "JOIN", "LEFT JOIN"])
        condition = self._condition([self._chance.choice(["o", "o", "p"])])
        head, tail = self._chance.choice([("", ""), ("p.g AS k, ", " GROUP BY p.g")])
        return f"SELECT {head}{self._functions('o')} FROM r o {kind} s p ON {on} WHERE {condition}{tail}"

    def _source(self, alias: str) -> str:
        drawn = self._chance.random()
        if drawn < 0.85 or self._is_plain:
            return f"r {alias}"
        self.features.add("sub-select")
        if drawn < 0.9:
            return f"(SELECT {_ALL} FROM r q WHERE q.a > {self._number()}) {alias}"
        if drawn < 0.95:
            return f"(SELECT {_GROUPED} FROM r q GROUP BY q.g, q.x) {alias}"
        return f"(SELECT DISTINCT {_ALL} FROM r q) {alias}"

    def _functions(self, alias: str) -> str:
        given = self._chance.sample([*_AGGREGATES, *_DATES], self._chance.choice([1, 1, 2]))
        return ", ".join(f"{each.format(alias)} AS f{place}" for place, each in enumerate(given))

    # Conditions.

    def _condition(self, outer: Sequence[str], level: int = 1) -> str:
        if self._is_plain:
            comparisons = [self._comparison(outer, level) for _ in range(self._chance.choice([1, 1, 1, 2]))]
            return " AND ".join([*comparisons, *([self._local(outer[-1])] if self._chance.random() < 0.1 else [])])
        drawn = self._chance.random()
        one = self._membership(outer) if drawn < 0.07 else self._comparison(outer, level)
        form = self._chance.choices(
            ["{0}", "{0} AND {1}", "({0} OR {1})", "NOT ({0})", "{0} AND {2}", "({0} OR {2})"], (12, 2, 1, 1, 3, 1)
        )[0]
        if form != "{0}":
            self.features.add(form.replace("{0}", "").replace("{1}", "").replace("{2}", "").strip("() ").lower())
        other = self._comparison(outer, level) if "{1}" in form else ""
        local = self._local(outer[-1]) if "{2}" in form else ""
        return form.format(one, other, local)

    def _local(self, alias: str) -> str:
        return self._chance.choice(_LOCAL).format(alias, n=self._constants.randint(-1, 4), k=self._constants.randint(0, 3))

    def _comparison(self, outer: Sequence[str], level: int) -> str:
        comparison = self._chance.choice(_COMPARISONS)
        if self._chance.random() < 0.07:
            return f"{outer[-1]}.d {comparison} {self._nested(outer, level, _DATES)}"
        right = self._nested(outer, level)
        drawn = self._chance.random()
        if self._is_plain and drawn < 0.5 and "FILTER" not in right:
            # The two sides are alike, so that some rows pass and some do not.
            whole = re.sub(r" WHERE.*", "", right).rstrip(")")
            return f"{self._factor()} * {whole}) {comparison} {right}"
        if drawn < 0.4:
            left = f"{self._factor()} * {self._nested(outer, MOST_LEVELS, correlation='')}"
        elif drawn < 0.55:
            left = f"{self._factor()} * {self._nested(outer, level)}"
            self.features.add("correlated on both sides")
        elif drawn < 0.75:
            left = self._chance.choice(_COLUMNS).format(outer[-1])
        elif drawn < 0.8:
            left, right = self._number(), f"{right} + {self._nested(outer, MOST_LEVELS)}"
        else:
            left = self._number()
        if self._chance.random() < 0.15:
            right = f"{self._factor()} * {right}"
        return f"{left} {comparison} {right}" if self._chance.random() < 0.8 else f"{right} {comparison} {left}"

    def _membership(self, outer: Sequence[str]) -> str:
        alias, table, o = self._alias(), self._table(), outer[-1]
        self.features.add("membership")
        correlated, comparison = self._correlation(alias, outer, None), self._chance.choice(_COMPARISONS)
        forms = (
            f"EXISTS (SELECT 1 FROM {table} {alias} WHERE {correlated})",
            f"NOT EXISTS (SELECT 1 FROM {table} {alias} WHERE {correlated})",
            f"EXISTS (SELECT 1 FROM {table} {alias} WHERE {correlated} HAVING SUM({alias}.a) {comparison} {self._number()})",
            f"{o}.x IN (SELECT {alias}.x FROM {table} {alias} WHERE {correlated})",
            f"{o}.x NOT IN (SELECT {alias}.x FROM {table} {alias} WHERE {alias}.a > {self._number()})",
            f"{o}.g IN (SELECT {alias}.g FROM {table} {alias} GROUP BY {alias}.g HAVING SUM({alias}.a) {comparison} {self._number()})",
        )
        return self._chance.choice(forms)

    # Nested aggregates.

    def _nested(
        self,
        outer: Sequence[str],
        level: int,
        functions: Sequence[str] = _AGGREGATES,
        correlation: str | None = None,
        *,
        by_key: bool = False,
    ) -> str:
        """Return a scalar subquery; ``correlation`` "" reads no row around it, and ``by_key`` only the key of the groups around it."""
        alias = self._alias()
        conditions = []
        if correlation is None:
            conditions = [self._chance.choice(_BY_KEY).format(i=alias, o=outer[-1], c=self._chance.choice(_LESS_OR_MORE))]
            if not by_key:
                conditions = [self._correlation(alias, outer, None)] if self._chance.random() < 0.9 else []
        if self._chance.random() < 0.2:
            conditions.append(self._local(alias))
        if level < MOST_LEVELS and not by_key and self._chance.random() < 0.25:
            self.features.add(f"level {level + 1}")
            conditions.append(self._comparison([*outer, alias], level + 1))
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        source = f"{self._table()} {alias}"
        if self._chance.random() < 0.04 and not self._is_plain:
            self.features.add("inner sub-select")
            source = f"(SELECT {_ALL} FROM {self._table()} q WHERE q.x > {self._constants.randint(-1, 2)}) {alias}"
        function = (
            "SUM({0}.a)" if self._is_plain and functions is _AGGREGATES and self._chance.random() < 0.5 else self._chance.choice(functions)
        )
        having = f" HAVING COUNT(*) > {self._number()}" if not self._is_plain and self._chance.random() < 0.06 else ""
        return f"(SELECT {function.format(alias)} FROM {source}{where}{having})"

    def _correlation(self, alias: str, outer: Sequence[str], kind: str | None) -> str:
        name = outer[-1]
        if len(outer) > 1 and self._chance.random() < 0.3 and not self._is_plain:
            name = outer[0]
            self.features.add("outermost")
        kinds = ("inequality", "equality", "both", "two inequalities", "unequal", "either")
        kind = kind or self._chance.choices(kinds, weights=(10, 4, 3, 0, 0, 0) if self._is_plain else (10, 5, 4, 2, 1, 1))[0]
        self.features.add(kind)
        if kind == "both":
            return f"{self._correlation(alias, outer, 'equality')} AND {self._correlation(alias, outer, 'inequality')}"
        if self._is_plain and self._chance.random() < 0.5:
            plain = "{i}.x {c} {o}.x" if kind == "inequality" else "{i}.g = {o}.g"
            return plain.format(i=alias, o=name, c=self._chance.choice(_LESS_OR_MORE))
        forms = {
            "inequality": _INEQUALITIES,
            "equality": _EQUALITIES,
            "two inequalities": _TWO_INEQUALITIES,
            "unequal": _UNEQUAL,
            "either": _EITHER,
        }[kind]
        return self._chance.choice(forms).format(i=alias, o=name, c=self._chance.choice(_LESS_OR_MORE))

    def _alias(self) -> str:
        self._aliases += 1
        return f"i{self._aliases}"

    def _table(self) -> str:
        return self._chance.choice(["r", "r", "r", "s"])

    def _factor(self) -> str:
        return self._constants.choice(_FACTORS)

    def _number(self) -> str:
        return self._constants.choice(_NUMBERS)
