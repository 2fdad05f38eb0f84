"""Patterns of the algebra -> relations. Source: section 18.5 of the SPARQL 1.1 recommendation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from imp_driver.sparql.algebra import (
    Bgp,
    Call,
    Closure,
    Distinct,
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
    Project,
    Slice,
    Union,
    Values,
    Variable,
    variables,
)
from imp_driver.sparql.sql.aggregates import grouped
from imp_driver.sparql.sql.exists import check_substitution
from imp_driver.sparql.sql.expressions import Scope, too_far
from imp_driver.sparql.sql.joins import Columns, compatible, joined, outer_joined, united, without
from imp_driver.sparql.sql.order import sort_keys
from imp_driver.sparql.sql.paths import Paths
from imp_driver.sparql.sql.relations import NULL_TEXT, Column, Item, Names, Relation, derived, sealed, selected_columns, written
from imp_driver.sparql.sql.scans import Scans
from imp_driver.sparql.sql.values import Known, Stored, term_of
from imp_driver.values.quoting import plain_text


class Patterns:
    """Writes patterns; recursive tables that they need are collected in ``paths``."""

    def __init__(self, relation: Callable[[str], str], *, is_set: bool) -> None:
        self.names = Names()
        self._scans = Scans(relation, self.names, is_set=is_set)
        self.paths = Paths(self.names, self._scans)
        self._around: list[Columns] = []

    def of(self, pattern: Pattern) -> Relation:
        """Return a pattern's solutions. Raises NotSupportedError naming what has no SQL."""
        match pattern:
            case Bgp():
                return self._scans.of(pattern)
            case Closure():
                return self.paths.of(pattern, self.of)
            case Values():
                return self._values(pattern)
            case Join(left, right):
                return joined(self.of(left), self.of(right))
            case LeftJoin(left, right, condition):
                return outer_joined(
                    self.of(left), self.of(right), self.names, lambda columns: [] if condition is None else self.truths(condition, columns)
                )
            case Union():
                return united([self.of(each) for each in _branches(pattern)], variables(pattern), self.names)
            case Minus(left, right):
                return without(self.of(left), self.of(right))
            case Filter(inner, condition):
                found = self.of(inner)
                return found.with_conditions(self.truths(condition, found.columns))
            case Extend(inner, variable, expression):
                return self._extended(self.of(inner), variable, expression)
            case Group():
                return grouped(self.of(pattern.pattern), pattern, self.scope, self.names)
            case Project(inner, wanted):
                found = self.of(inner)
                return found.with_columns({each: found.columns.get(each, Column(NULL_TEXT)) for each in wanted})
            case Distinct(inner):
                return sealed(self.of(inner), self.names, is_distinct=True)
            case OrderBy(inner, _):
                # Solutions inside a query have no order but for a LIMIT, which is written together with it.
                return self.of(inner)
            case Slice():
                return self._sliced(pattern)

    def truths(self, condition: Expression, columns: Columns) -> list[str]:
        """Return the conjuncts of a condition."""
        if isinstance(condition, Call) and condition.name == "&&":
            return [text for each in condition.arguments for text in self.truths(each, columns)]
        return [self.scope(columns).test(condition)]

    def scope(self, columns: Columns) -> Scope:
        """Return what may be read beside columns: inside EXISTS also variables of the solution around it."""
        nothing: Columns = {}
        *far, near = [nothing, *self._around]
        hidden = frozenset(variable for each in far for variable in each) - set(near) - set(columns)
        return Scope({**near, **columns}, lambda each: self._exists(each, columns, near), hidden)

    def _exists(self, test: Exists, columns: Columns, near: Columns) -> str:
        """Write a test of the solution that has these columns: its values are compared with those that the pattern binds."""
        outer = {variable for each in [*self._around, near, columns] for variable in each}
        check_substitution(test.pattern, outer)
        self._around.append(columns)
        try:
            inner = self.of(test.pattern)
        finally:
            self._around.pop()
        far = sorted(variable.name for variable in outer & set(inner.columns) - set(columns))
        if far:
            raise too_far(far[0])
        shared = [compatible(column, columns[variable]) for variable, column in inner.columns.items() if variable in columns]
        return f"{'NOT ' if test.is_negated else ''}EXISTS ({written(inner, ['1'], outside=shared)})"

    def _values(self, pattern: Values) -> Relation:
        if len(pattern.rows) == 1:
            (row,) = pattern.rows
            pairs = zip(pattern.variables, row, strict=True)
            columns = {name: Column(NULL_TEXT) if term is None else Column(plain_text(term), True, term[0] != '"') for name, term in pairs}
            return Relation(columns=columns)
        if not pattern.rows:
            nothing = Relation(columns={name: Column(NULL_TEXT, True, True) for name in pattern.variables}).with_conditions(["FALSE"])
            return sealed(nothing, self.names)
        alias = self.names.table()
        listed = [self.names.column(each) for each in pattern.variables] or ["`one row`"]
        rows = [", ".join(NULL_TEXT if term is None else plain_text(term) for term in row) or "1" for row in pattern.rows]
        text = f"(SELECT * FROM VALUES {', '.join(f'({row})' for row in rows)} AS {alias}({', '.join(listed)}))"
        columns = {}
        for place, variable in enumerate(pattern.variables):
            terms = [row[place] for row in pattern.rows]
            is_resource = all(term is None or term[0] != '"' for term in terms)
            columns[variable] = Column(f"{alias}.{listed[place]}", None not in terms, is_resource, alias)
        return Relation((Item(text, alias),), (), columns)

    def _extended(self, relation: Relation, variable: Variable, expression: Expression) -> Relation:
        value = self.scope(relation.columns).value(expression)
        match value:
            case Known(term):
                column = Column(plain_text(term), True, term[0] != '"')
            case Stored(text):
                known = next((each for each in relation.columns.values() if each.text == text), None)
                column = known or Column(text, False, value.is_resource, None, value.is_integer)
            case _:
                column = Column(term_of(value))
        found = relation.with_columns({**relation.columns, variable: column})
        is_simple = isinstance(value, Known) or column in relation.columns.values()
        return found if is_simple else sealed(found, self.names)

    def _sliced(self, pattern: Slice) -> Relation:
        relation, order = self.ordered(pattern.pattern)
        columns = [each.text for each in relation.columns.values() if each.text != NULL_TEXT]
        # A pattern that is written several times has the same solutions each time.
        order = order or (f" ORDER BY {', '.join(columns)}" if columns else "")
        text = f"{written(relation, selected_columns(relation, self.names))}{order}{limits(pattern)}"
        return derived(text, relation.columns, self.names)

    def ordered(self, pattern: Pattern) -> tuple[Relation, str]:
        """Return a pattern with the ORDER BY that its own order is, empty where it has none; ties are by all columns."""
        is_distinct, wanted, inner = False, None, pattern
        while isinstance(inner, (Distinct, Project)):
            is_distinct |= isinstance(inner, Distinct)
            wanted = inner.variables if isinstance(inner, Project) and wanted is None else wanted
            inner = inner.pattern
        if not isinstance(inner, OrderBy):
            return self.of(pattern), ""
        relation = self.of(inner.pattern)
        shown = relation.columns if wanted is None else {each: relation.columns.get(each, Column(NULL_TEXT)) for each in wanted}
        if is_distinct:
            relation = sealed(relation.with_columns(shown), self.names, is_distinct=True)
            shown = relation.columns
        keys = sort_keys(inner.conditions, self.scope(relation.columns))
        ties = [each.text for each in shown.values() if each.text != NULL_TEXT]
        return replace(relation, columns=shown), f" ORDER BY {', '.join(dict.fromkeys([*keys, *ties]))}"


def limits(pattern: Slice) -> str:
    """Return LIMIT and OFFSET."""
    found = "" if pattern.limit is None else f" LIMIT {pattern.limit}"
    return f"{found} OFFSET {pattern.offset}" if pattern.offset else found


def _branches(pattern: Pattern) -> list[Pattern]:
    return [*_branches(pattern.left), *_branches(pattern.right)] if isinstance(pattern, Union) else [pattern]
