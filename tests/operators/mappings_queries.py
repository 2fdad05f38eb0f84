"""Random queries of SPARQL as text, over few variables and terms."""

from __future__ import annotations

from random import Random

from tests.operators.mappings_graphs import EXAMPLE

VARIABLES = ("x", "y", "z", "w")
PREFIX = f"PREFIX : <{EXAMPLE}>\n"


class RandomQuery:
    """Writes one query.

    Attributes:
        text: of the query.
        is_sliced: whether a part of it has LIMIT, so that engines may choose other solutions.
        is_disputed: whether it has property paths, of which engines do not always count each way, or a pair of ``*`` and ``?`` once, or
            subqueries and EXISTS within GRAPH, which they do not always evaluate over each graph by itself.
    """

    def __init__(self, random: Random, depth: int = 2, *, has_slices: bool = True) -> None:
        self._random, self._has_slices = random, has_slices
        self._fresh = 0
        self.is_sliced = self.is_disputed = False
        body = self._group(depth)
        self.text = f"{PREFIX}SELECT {self._some(['', 'DISTINCT '])}{self._selected()} WHERE {body}"

    def _some(self, choices: list[str]) -> str:
        return self._random.choice(choices)

    def _variable(self) -> str:
        return "?" + self._random.choice(VARIABLES)

    def _selected(self) -> str:
        return " ".join("?" + name for name in self._random.sample(VARIABLES, self._random.randrange(1, 5)))

    def _new(self) -> str:
        self._fresh += 1
        return f"?n{self._fresh}"

    def _subject(self) -> str:
        return self._variable() if self._random.random() < 0.85 else ":" + self._some(list("abcd"))

    def _object(self) -> str:
        chance = self._random.random()
        return self._variable() if chance < 0.75 else ":" + self._some(list("abcd")) if chance < 0.9 else self._some(["0", "1", "2"])

    def _predicate(self) -> str:
        chance = self._random.random()
        if chance < 0.08:
            return self._variable()
        if chance < 0.2:
            self.is_disputed = True
            return self._some(
                [":p*", ":p+", ":q?", ":p/:q", "^:r", ":p|:q", "(:p|:q)+", "!:p", "!(:p|^:q)", "(:p/:q)*", "(^:p)?", "(:p+/:q?)*"]
            )
        return ":" + self._some(list("pqr"))

    def _triples(self) -> str:
        count = self._random.choice([1, 1, 2, 2, 3])
        return " ".join(f"{self._subject()} {self._predicate()} {self._object()} ." for _ in range(count))

    def _condition(self, depth: int) -> str:
        choice = self._random.randrange(9 if depth else 6)
        match choice:
            case 0:
                return f"{self._variable()} = {self._variable()}"
            case 1:
                return f"{self._variable()} {self._some(['<', '>=', '!=', '='])} {self._some(['0', '1', '2'])}"
            case 2:
                return f"bound({self._variable()})"
            case 3:
                return f"!bound({self._variable()})"
            case 4:
                return f"{self._variable()} IN (:a, 1, {self._variable()})"
            case 5:
                return f"({self._condition(0)}) {self._some(['&&', '||'])} ({self._condition(0)})"
            case 6:
                return f"{self._some(['', 'NOT '])}EXISTS {self._group(depth - 1)}"
            case 7:
                return f"{self._some(['!', ''])}({self._condition(depth - 1)})"
            case _:
                return f"({self._condition(depth - 1)}) {self._some(['&&', '||'])} ({self._condition(depth - 1)})"

    def _group(self, depth: int) -> str:
        parts = [self._triples()] if self._random.random() < 0.85 else []
        for _ in range(self._random.choice([0, 1, 1, 2]) if depth else self._random.choice([0, 0, 1])):
            parts.append(self._part(depth))
        return "{ " + " ".join(parts) + " }"

    def _part(self, depth: int) -> str:
        if not depth:
            return f"FILTER({self._condition(0)})"
        inner = depth - 1
        match self._random.randrange(12):
            case 0 | 1:
                return f"OPTIONAL {self._group(inner)}"
            case 2:
                return f"{self._group(inner)} UNION {self._group(inner)}"
            case 3:
                return f"MINUS {self._group(inner)}"
            case 4 | 5:
                return f"FILTER({self._condition(depth)})"
            case 6:
                return self._group(inner)
            case 7:
                return f"BIND({self._bound(inner)} AS {self._new()})"
            case 8:
                one, other = self._random.sample(VARIABLES, 2)
                return f"VALUES (?{one} ?{other}) {{ (:a {self._some([':b', 'UNDEF', '1'])}) (UNDEF :c) }}"
            case 9:
                self.is_disputed = True
                return f"GRAPH {self._some(['?g', ':g1', '?x'])} {self._group(inner)}"
            case 10:
                return self._subquery(inner)
            case _:
                return self._grouped(inner)

    def _bound(self, depth: int) -> str:
        forms = [f"{self._variable()} + 1", f"IF(bound({self._variable()}), {self._variable()}, 2)", f"COALESCE({self._variable()}, :d)"]
        if depth:
            forms.append(f"EXISTS {self._group(depth - 1)}")
        return self._some(forms)

    def _subquery(self, depth: int) -> str:
        end = ""
        if self._has_slices and self._random.random() < 0.4:
            end, self.is_sliced = f" ORDER BY {self._some(['', 'DESC'])}({self._variable()}) LIMIT {self._random.randrange(1, 4)}", True
        return f"{{ SELECT {self._some(['', 'DISTINCT '])}{self._selected()} WHERE {self._group(depth)}{end} }}"

    def _grouped(self, depth: int) -> str:
        key, of = self._random.sample(VARIABLES, 2)
        aggregate = self._some(
            ["COUNT(*)", "COUNT(DISTINCT *)", f"SUM(?{of})", f"AVG(?{of})", f"MIN(?{of})", f"MAX(?{of})", f"COUNT(DISTINCT ?{of})"]
        )
        end = f" GROUP BY ?{key}" if self._random.random() < 0.7 else ""
        shown = f"?{key} " if end else ""
        return f"{{ SELECT {shown}({aggregate} AS {self._new()}) WHERE {self._group(depth)}{end} }}"
