"""Patterns evaluated from scratch, operator by operator as SPARQL 1.1 defines them (section 18), over K-sets.

For what is not followed change by change, and for the pattern of an EXISTS with the values of one solution in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from imp_driver.dataflow.mappings import ksets
from imp_driver.dataflow.mappings.expressions import truth, value
from imp_driver.dataflow.mappings.graphs import Constants, QuadRow
from imp_driver.dataflow.mappings.ksets import KSet
from imp_driver.dataflow.mappings.modifiers import Lister, modifiers_of
from imp_driver.dataflow.mappings.operator import Row, add, taking
from imp_driver.dataflow.mappings.scopes import substituted
from imp_driver.sparql.algebra import (
    Bgp,
    Closure,
    Distinct,
    EachNamed,
    Exists,
    Expression,
    Extend,
    Filter,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Pattern,
    Place,
    Project,
    Slice,
    Triple,
    Union,
    Values,
    Variable,
)
from imp_driver.sparql.functions.aggregates import accumulator
from imp_driver.sparql.terms import Term


class Triples(Protocol):
    """The graphs that patterns are evaluated over."""

    def matching(self, place: Place, constants: Constants) -> Iterable[Row | QuadRow]:
        """Yield each triple of a place with certain terms, None for any, once; with the graph's name where each is by itself."""


def evaluate(pattern: Pattern, triples: Triples) -> KSet:
    """Return the solutions of a pattern."""
    return _Evaluation(triples).of(pattern)


class _Evaluation:
    def __init__(self, triples: Triples) -> None:
        self._triples = triples

    def of(self, pattern: Pattern) -> KSet:
        match pattern:
            case Bgp():
                return self._bgp(pattern)
            case Closure():
                return self._closure(pattern)
            case Join(left, right):
                return ksets.join(self.of(left), self.of(right))
            case LeftJoin(left, right, condition):
                return self._left_join(self.of(left), self.of(right), condition)
            case Union(left, right):
                return ksets.union(self.of(left), self.of(right))
            case Minus(left, right):
                return ksets.minus(self.of(left), self.of(right))
            case Filter(inner, condition):
                found = self.of(inner)
                return ksets.select(found, truth(condition, found.variables, self._matches(found.variables)))
            case Extend(inner, variable, expression):
                return self._extended(self.of(inner), variable, expression)
            case Values(variables, rows):
                return ksets.counted(variables, rows)
            case Group():
                return self._group(pattern)
            case Distinct(inner):
                return ksets.distinct(self.of(inner))
            case Project(inner, variables):
                return self.of(inner).over(variables)
            case OrderBy(inner, _):
                return self.of(inner)
            case Slice():
                return self._slice(pattern)

    def _bgp(self, pattern: Bgp) -> KSet:
        found = ksets.ONE if pattern.triples or not isinstance(pattern.place, EachNamed) else self._names(pattern.place)
        for triple in pattern.triples:
            found = self._joined(found, triple, pattern.place)
        return found

    def _joined(self, known: KSet, triple: Triple, place: Place) -> KSet:
        """Return solutions joined with the triples that match a pattern, which are looked up by what is bound."""
        nodes = (*triple.nodes, place.variable) if isinstance(place, EachNamed) else triple.nodes
        new = [node for node in dict.fromkeys(nodes) if isinstance(node, Variable) and node not in known.variables]
        takes = [(None, node) if isinstance(node, str) else (_column(node, known.variables), None) for node in nodes]
        rest = taking([nodes.index(variable) for variable in new])
        found: dict[Row, int] = {}
        for row, count in known.rows.items():
            terms = [term if column is None else row[column] for column, term in takes]
            subject, predicate, object_, *_ = terms
            for match in self._triples.matching(place, (subject, predicate, object_)):
                if all(term is None or term == own for term, own in zip(terms, match, strict=True)) and _is_regular(nodes, match):
                    add(found, row + rest(match), count)
        return KSet((*known.variables, *new), found)

    def _names(self, place: EachNamed) -> KSet:
        """Return the names of the graphs of a place: those that are told, or else those that have triples."""
        names: list[Term | None] = [name for name, _ in place.sources] or [
            row[3] for row in self._triples.matching(place, (None, None, None))
        ]
        return KSet((place.variable,), {(name,): 1 for name in names})

    def _closure(self, pattern: Closure) -> KSet:
        is_each = isinstance(pattern.place, EachNamed)
        graph = [pattern.place.variable] if isinstance(pattern.place, EachNamed) else []
        steps = self.of(pattern.step).over([pattern.start, pattern.end, *graph]).rows
        pairs = set(_repeated(steps)) if pattern.is_repeated else set(steps)
        if pattern.has_zero:
            pairs |= {(term, term, *name) for term, *name in self._terms(pattern, is_each=is_each)}
        ends = (pattern.subject, pattern.object, *graph)
        names = [node for node in dict.fromkeys(ends) if isinstance(node, Variable)]
        take = taking([ends.index(name) for name in names])
        fits = [pair for pair in pairs if _is_fit(ends, pair) and _is_regular(ends, pair)]
        return KSet(tuple(names), dict.fromkeys(map(take, fits), 1))

    def _terms(self, pattern: Closure, *, is_each: bool) -> Iterable[Row]:
        """Yield each term from which zero steps lead to itself, with its graph where each is by itself."""
        given = [node for node in (pattern.subject, pattern.object) if isinstance(node, str)]
        if given:
            names = self._names(pattern.place).rows if isinstance(pattern.place, EachNamed) else ((),)
            return [(term, *name) for term in given for name in names]
        triples = self._triples.matching(pattern.place, (None, None, None))
        return [(row[place], *row[3:]) for row in triples for place in (0, 2)]

    def _left_join(self, left: KSet, right: KSet, condition: Expression | None) -> KSet:
        variables = tuple(dict.fromkeys((*left.variables, *right.variables)))
        return ksets.left_join(left, right, None if condition is None else truth(condition, variables, self._matches(variables)))

    def _extended(self, known: KSet, variable: Variable, expression: Expression) -> KSet:
        value_of = value(expression, known.variables, self._matches(known.variables))
        return KSet((*known.variables, variable), {(*row, value_of(row)): count for row, count in known.rows.items()})

    def _group(self, pattern: Group) -> KSet:
        known = self.of(pattern.pattern)
        matches = self._matches(known.variables)
        keys = [value(expression, known.variables, matches) for _, expression in pattern.keys]
        groups: dict[Row, dict[Row, int]] = {} if keys else {(): {}}
        for row, count in known.rows.items():
            groups.setdefault(tuple([value_of(row) for value_of in keys]), {})[row] = count
        shown = taking([place for place, variable in enumerate(known.variables) if not variable.is_hidden])
        found: dict[Row, int] = {}
        for key, rows in groups.items():
            results = list[Term | None]()
            for _, aggregate in pattern.aggregates:
                taken = accumulator(aggregate)
                argument = shown if aggregate.argument is None else value(aggregate.argument, known.variables, matches)
                for row, count in rows.items():
                    taken.add(argument(row), count)  # type: ignore[arg-type]
                results.append(taken.result())
            found[(*key, *results)] = 1
        return KSet(tuple(variable for variable, _ in (*pattern.keys, *pattern.aggregates)), found)

    def _slice(self, pattern: Slice) -> KSet:
        modifiers = modifiers_of(pattern)
        found = self.of(modifiers.pattern)
        return ksets.counted(modifiers.columns, Lister(modifiers, found.variables).listed(found.rows))

    def _matches(self, variables: Sequence[Variable]) -> Callable[[Exists], Callable[[Sequence[Term | None]], bool]]:
        """Return what tells of an EXISTS: its pattern is evaluated with the values of a solution in it."""

        def matches(exists: Exists) -> Callable[[Sequence[Term | None]], bool]:
            def holds(row: Sequence[Term | None]) -> bool:
                binding = {variable: term for variable, term in zip(variables, row, strict=True) if term is not None}
                return bool(self.of(substituted(exists.pattern, binding)).rows) != exists.is_negated

            return holds

        return matches


def _column(node: Variable, variables: Sequence[Variable]) -> int | None:
    return variables.index(node) if node in variables else None


def _is_regular(nodes: Sequence[Variable | Term], terms: Sequence[Term | None]) -> bool:
    """Say whether the same variable stands for the same term."""
    found: dict[Variable | Term, Term | None] = {}
    return all(found.setdefault(node, term) == term for node, term in zip(nodes, terms, strict=True) if isinstance(node, Variable))


def _is_fit(nodes: Sequence[Variable | Term], terms: Sequence[Term | None]) -> bool:
    return all(isinstance(node, Variable) or node == term for node, term in zip(nodes, terms, strict=True))


def _repeated(steps: Mapping[Row, int]) -> Iterable[Row]:
    """Yield the pairs between which one or more steps lead, in one graph each."""
    ways: dict[Row, list[Term | None]] = {}
    for start, end, *name in steps:
        ways.setdefault((start, *name), []).append(end)
    for start, *name in ways:
        met: dict[Term | None, None] = {}
        left = [start]
        while left:
            for end in ways.get((left.pop(), *name), ()):
                if end not in met:
                    met[end] = None
                    left.append(end)
        yield from ((start, end, *name) for end in met)
