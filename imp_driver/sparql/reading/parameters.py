"""Variables whose values are given with the query: every solution has them.

A given variable becomes its term wherever patterns match triples and expressions read it, and what shows it, or compares solutions by it,
binds it again. Where it is made by an expression, or stands in a subquery with LIMIT, solutions with other values are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import cast

from imp_driver.sparql.algebra import (
    Aggregate,
    Bgp,
    Call,
    Closure,
    Constant,
    Distinct,
    EachNamed,
    Exists,
    Expression,
    Extend,
    Filter,
    Form,
    Group,
    Join,
    LeftJoin,
    Minus,
    Modify,
    Node,
    OrderBy,
    Pattern,
    Place,
    Project,
    Quad,
    Query,
    Read,
    Slice,
    Source,
    Triple,
    Union,
    Update,
    Values,
    Variable,
    variables,
)
from imp_driver.sparql.certain import certain
from imp_driver.sparql.reading.names import is_absolute
from imp_driver.sparql.terms import Term, TermKind, kind, lexical

Given = Mapping[Variable, Term]


def with_parameters(query: Query, parameters: Mapping[str, Term]) -> Query:
    """Return a query each solution of which has the given values, by names of variables; names that it does not have change nothing."""
    given = _Given({Variable(name): term for name, term in parameters.items()})
    if query.form is Form.DESCRIBE:
        return replace(query, pattern=given.described(query.pattern))
    template = tuple(given.triple(triple) for triple in query.template)
    return replace(query, pattern=given.shown(query.pattern), template=template)


def with_parameters_of_update(update: Update, parameters: Mapping[str, Term]) -> Update:
    """Return an update whose solutions and templates have the given values."""
    if not isinstance(update, Modify):
        return update
    given = _Given({Variable(name): term for name, term in parameters.items()})
    deleted, inserted = (tuple(given.quad(quad) for quad in quads) for quads in (update.deleted, update.inserted))
    return Modify(deleted, inserted, given.shown(update.pattern))


@dataclass(frozen=True, slots=True)
class _Given:
    values: Given

    def node(self, node: Node) -> Node:
        return self.values.get(node, node) if isinstance(node, Variable) else node

    def triple(self, triple: Triple) -> Triple:
        return Triple(*(self.node(node) for node in triple.nodes))

    def quad(self, quad: Quad) -> Quad:
        term = self.values.get(quad.graph) if quad.graph is not None else None
        if term is None:
            return replace(quad, triple=self.triple(quad.triple))
        source = Source(quad.source.table, term) if is_absolute(lexical(term)) else Source(lexical(term))
        return Quad(self.triple(quad.triple), source)

    def place(self, place: Place) -> Place:
        if not isinstance(place, EachNamed) or place.variable not in self.values:
            return place
        term = self.values[place.variable]
        if place.sources:
            return tuple(source for name, source in place.sources if name == term)
        return tuple(Source(table, term) for table in place.tables) if kind(term) is TermKind.IRI else ()

    def shown(self, pattern: Pattern) -> Pattern:
        """Return the pattern of a whole query: values bind the given variables of its columns."""
        match pattern:
            case Slice():
                return replace(pattern, pattern=self.shown(pattern.pattern))
            case Distinct(inner):
                return Distinct(self.shown(inner))
            case Project(inner, names):
                return Project(self._again(self.of(inner), names), names)
            case _:
                return self.of(pattern)

    def described(self, pattern: Pattern) -> Pattern:
        """Return the pattern of DESCRIBE: what the query says is below its hidden variables, around it are columns of other meanings."""
        match pattern:
            case Project(inner, names) if all(name.is_hidden for name in names):
                return Project(self.of(inner), names)
            case Distinct() | Project() | Extend():
                return replace(pattern, pattern=self.described(pattern.pattern))
            case Union(left, right):
                return Union(self.described(left), self.described(right))
            case Join(left, right):
                return Join(self.described(left), right)
            case _:
                return pattern

    def _again(self, pattern: Pattern, names: tuple[Variable, ...]) -> Pattern:
        """Bind the given ones of some variables again."""
        for name in names:
            if name in self.values and name not in certain(pattern):
                # Some solutions may have it already, of a subquery for example.
                is_new = name not in variables(pattern)
                pattern = Extend(pattern, name, Constant(self.values[name])) if is_new else self._only(pattern, name)
        return pattern

    def _only(self, pattern: Pattern, name: Variable) -> Pattern:
        """Leave out the solutions of a pattern that have another value of a variable."""
        return Join(pattern, Values((name,), ((self.values[name],),)))

    def of(self, pattern: Pattern) -> Pattern:
        match pattern:
            case Bgp(triples, place):
                return Bgp(tuple(self.triple(triple) for triple in triples), self.place(place))
            case Closure():
                start, end, place = self.node(pattern.subject), self.node(pattern.object), self.place(pattern.place)
                return replace(pattern, subject=start, object=end, step=self.of(pattern.step), place=place)
            case Join(left, right) | Union(left, right):
                return type(pattern)(self.of(left), self.of(right))
            case LeftJoin(left, right, condition):
                return LeftJoin(self.of(left), self.of(right), None if condition is None else self.expression(condition))
            case Minus(left, right):
                shared = tuple(name for name in self.values if name in variables(right))
                return Minus(self._again(self.of(left), shared), self._again(self.of(right), shared))
            case Filter(inner, condition):
                return Filter(self.of(inner), self.expression(condition))
            case OrderBy(inner, conditions):
                return OrderBy(self.of(inner), tuple((self.expression(one), falls) for one, falls in conditions))
            case Extend(inner, variable, expression):
                made = Extend(self.of(inner), variable, self.expression(expression))
                return self._only(made, variable) if variable in self.values else made
            case Values():
                return self._values(pattern)
            case Group():
                return self._group(pattern)
            case Slice(inner) if not isinstance(inner, (Distinct, Project)):
                # Of DESCRIBE, whose solutions are no subquery.
                return replace(pattern, pattern=self.of(inner))
            case Project() | Distinct() | Slice():
                return self._subquery(pattern)

    def _values(self, pattern: Values) -> Pattern:
        places = [place for place, name in enumerate(pattern.variables) if name not in self.values]
        rows = [
            row
            for row in pattern.rows
            if all(value in (None, self.values.get(name, value)) for name, value in zip(pattern.variables, row, strict=True))
        ]
        return Values(tuple(pattern.variables[place] for place in places), tuple(tuple(row[place] for place in places) for row in rows))

    def _group(self, pattern: Group) -> Pattern:
        keys = tuple((name, self.expression(expression)) for name, expression in pattern.keys)
        inner = self.of(pattern.pattern)
        grouped: Pattern = Group(inner, keys, tuple((name, self._aggregate(aggregate)) for name, aggregate in pattern.aggregates))
        for name, expression in pattern.keys:
            if name in self.values and expression != Read(name):
                grouped = self._only(grouped, name)
        for name, _ in pattern.aggregates:
            grouped = self._only(grouped, name) if name in self.values else grouped
        return grouped

    def _aggregate(self, aggregate: Aggregate) -> Aggregate:
        return aggregate if aggregate.argument is None else replace(aggregate, argument=self.expression(aggregate.argument))

    def _subquery(self, pattern: Project | Distinct | Slice) -> Pattern:
        """Return a subquery: variables that it does not show are its own, whatever their names are."""
        shown = tuple(name for name in variables(pattern) if name in self.values)
        if _has_slice(pattern):
            # Which solutions are within the limit does not depend on the value.
            return reduce(self._only, shown, cast(Pattern, pattern))
        return _Given({name: self.values[name] for name in shown}).shown(pattern)

    def expression(self, expression: Expression) -> Expression:
        match expression:
            case Read(variable):
                return Constant(self.values[variable]) if variable in self.values else expression
            case Call("BOUND", (Read(variable),)) if variable in self.values:
                return Constant('"true"^^<http://www.w3.org/2001/XMLSchema#boolean>')
            case Call(name, arguments):
                return Call(name, tuple(self.expression(argument) for argument in arguments))
            case Exists(pattern, is_negated):
                return Exists(self.of(pattern), is_negated)
            case _:
                return expression


def _has_slice(pattern: Pattern) -> bool:
    while isinstance(pattern, Distinct):
        pattern = pattern.pattern
    return isinstance(pattern, Slice)
