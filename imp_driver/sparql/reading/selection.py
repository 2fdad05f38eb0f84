"""SELECT: groups, aggregates, expressions, modifiers (sections 18.2.4 and 18.2.5 of SPARQL 1.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.sparql.algebra import (
    Aggregate,
    Bgp,
    Constant,
    Distinct,
    EachNamed,
    Expression,
    Extend,
    Group,
    Minus,
    OrderBy,
    Pattern,
    Place,
    Project,
    Read,
    Slice,
    Union,
    Variable,
    variables,
)
from imp_driver.sparql.reading.context import Context
from imp_driver.sparql.reading.expressions import Expressions
from imp_driver.sparql.reading.joining import filtered, joined, visible
from imp_driver.sparql.reading.patterns import group, values
from imp_driver.sparql.reading.tree import Number, Tree
from imp_driver.sparql.terms import XSD, literal

_AGGREGATES = {"GROUPCONCAT": "GROUP_CONCAT"}
_ZERO = literal("0", f"{XSD}integer")
_OF_NOTHING = {"COUNT": _ZERO, "SUM": _ZERO, "AVG": _ZERO, "GROUP_CONCAT": literal("")}


def select(context: Context, tree: Tree, place: Place | None) -> Pattern:
    """Return the pattern of SELECT with all that follows; ``place`` None is the default graph.

    Raises:
        ProgrammingError: a rule of the language is broken that its grammar does not know.
        NotSupportedError: a subquery that is another one for each graph.
    """
    if isinstance(place, EachNamed):
        pattern: Pattern = _of_each_graph(context, tree, place)
    else:
        reader = Selection(context, tree, place)
        pattern = Project(reader.modified(), reader.columns())
    return sliced(Distinct(pattern) if tree.one("modifier") == "DISTINCT" else pattern, tree)


def _of_each_graph(context: Context, tree: Tree, place: EachNamed) -> Pattern:
    """Return a subquery within GRAPH of a variable, which its solutions bind: it is another one for each graph."""
    graph = place.variable
    if tree.one("limitoffset") is not None:
        raise NotSupportedError(f"LIMIT and OFFSET within GRAPH ?{graph.name} would count for each graph: put GRAPH into the subquery")
    selected = [part.one("var") for part in tree.many("projection")]
    if not selected or graph in selected or graph not in _written(tree, everywhere=True):
        reader = Selection(context, tree, place)
        return Project(reader.modified(), tuple(dict.fromkeys([*reader.columns(), graph])))
    # A variable of the same name within the subquery would be another one.
    hidden = context.hidden()
    reader = Selection(context, tree, replace(place, variable=hidden))
    pattern, columns = reader.modified(), reader.columns()
    return Project(Extend(Project(pattern, (*columns, hidden)), graph, Read(hidden)), (*columns, graph))


def sliced(pattern: Pattern, tree: Tree) -> Pattern:
    """Return a pattern within LIMIT and OFFSET.

    Raises:
        ProgrammingError: one of them is no natural number.
    """
    clauses = tree.one("limitoffset")
    if clauses is None:
        return pattern
    limit, offset = _natural(clauses.one("limit")), _natural(clauses.one("offset"))
    return Slice(pattern, offset or 0, limit)


def _natural(number: Number | None) -> int | None:
    if number is None:
        return None
    if number.sign or not number.digits.isdigit():
        raise ProgrammingError(f"LIMIT and OFFSET need a natural number, not {number.sign}{number.digits}")
    return int(number.digits)


@dataclass(slots=True)
class _Groups:
    """Groups while the query is read: aggregates get their variables as they are met, equal ones the same."""

    keys: list[tuple[Variable, Expression]] = field(default_factory=list)
    aggregates: dict[Aggregate, Variable] = field(default_factory=dict)

    @property
    def names(self) -> set[Variable]:
        return {name for name, _ in self.keys}


class Selection:
    """Reads what stands around one group graph pattern."""

    def __init__(self, context: Context, tree: Tree, place: Place | None) -> None:
        self._context = context
        self._tree = tree
        self._place = place
        self._inner = group(context, tree.one("where"), place)
        self._aliases: list[Variable] = []
        clauses = [tree.many("projection"), tree.one("having"), tree.one("orderby")]
        self._groups = _Groups() if tree.one("groupby") is not None or _has_aggregate(clauses) else None
        if self._groups is not None:
            self._read_keys(self._groups)

    def modified(self) -> Pattern:
        """Return the pattern with groups, HAVING, VALUES, expressions of SELECT, and ORDER BY, in this order."""
        extends = [
            (part.one("evar"), self._selected(part.one("evar"), part.one("expr")))
            for part in self._tree.many("projection")
            if part.one("evar")
        ]
        having = self._tree.one("having")
        conditions = [self._grouped(self._of_group).of(one) for one in having.many("condition")] if having is not None else []
        orders = self._orders()
        pattern = filtered(self._inner if self._groups is None else self._with_groups(self._groups), conditions)
        if (clause := self._tree.one("valuesClause")) is not None:
            pattern = joined(pattern, values(self._context, clause))
        for variable, expression in extends:
            if expression != Read(variable):
                pattern = Extend(pattern, variable, expression)
        return OrderBy(pattern, orders) if orders else pattern

    def columns(self) -> tuple[Variable, ...]:
        """Return what is selected, each variable once; all in scope for ``*``, as they come in the text.

        Raises:
            ProgrammingError: a variable that is neither grouped nor aggregated, or ``*`` of groups.
        """
        selected = [part.one("var") or part.one("evar") for part in self._tree.many("projection")]
        if not selected:
            if self._groups is not None:
                raise ProgrammingError("SELECT * of groups: name the keys, and aggregates as (SUM(?x) AS ?sum)")
            clause = self._tree.one("valuesClause")
            more = () if clause is None else clause.many("var")
            return in_order(self._tree.one("where"), (*visible(self._inner), *more))
        for variable in selected:
            if self._groups is not None and variable not in self._groups.names and variable not in self._aliases:
                raise _ungrouped(variable)
        return tuple(dict.fromkeys(selected))

    def _with_groups(self, groups: _Groups) -> Pattern:
        pattern = self._inner
        named = tuple((variable, aggregate) for aggregate, variable in groups.aggregates.items())
        if any(aggregate.argument is None and aggregate.is_distinct for _, aggregate in named):
            # Solutions differ by what the query names.
            graph = [self._place.variable] if isinstance(self._place, EachNamed) else []
            pattern = Project(pattern, tuple(dict.fromkeys([*visible(pattern), *graph])))
        if not isinstance(self._place, EachNamed) or self._place.variable in groups.names:
            return Group(pattern, tuple(groups.keys), named)
        graph_key = (self._place.variable, Read(self._place.variable))
        grouped = Group(pattern, (*groups.keys, graph_key), named)
        return grouped if groups.keys else Union(grouped, _empty_groups(pattern, self._place, named))

    def _read_keys(self, groups: _Groups) -> None:
        clause = self._tree.one("groupby")
        plain = self._plain()
        for condition in () if clause is None else clause.many("condition"):
            name = condition.one("var") if isinstance(condition, Tree) and condition.rule == "GroupAs" else None
            tree = condition.one("expr") if isinstance(condition, Tree) and condition.rule == "GroupAs" else condition
            expression = plain.of(tree)
            if name is not None and (name in variables(self._inner) or name in groups.names):
                raise ProgrammingError(f"GROUP BY (.. AS ?{name.name}): there is a ?{name.name} already; take another name")
            if name is None:
                name = expression.variable if isinstance(expression, Read) else self._context.hidden()
            if name not in groups.names:
                groups.keys.append((name, expression))

    def _selected(self, variable: Variable, tree: Any) -> Expression:
        clause = self._tree.one("valuesClause")
        taken = {*variables(self._inner), *self._aliases, *(() if clause is None else clause.many("var"))}
        if variable in taken | (set() if self._groups is None else self._groups.names):
            raise ProgrammingError(f"SELECT (.. AS ?{variable.name}): there is a ?{variable.name} already; take another name")
        sole = _sole(tree)
        if self._groups is not None and sole is not None:
            # An aggregate that is a column of its own needs no other variable.
            expression: Expression = Read(self._groups.aggregates.setdefault(self._aggregate(sole), variable))
        else:
            expression = self._grouped(self._refused).of(tree)
        self._aliases.append(variable)
        return expression

    def _orders(self) -> tuple[tuple[Expression, bool], ...]:
        clause = self._tree.one("orderby")
        conditions = () if clause is None else clause.many("condition")
        reader = self._grouped(self._sampled)
        return tuple((reader.of(one.one("expr")), one.one("order") == "DESC") for one in conditions)

    def _plain(self) -> Expressions:
        return Expressions(self._context, lambda tree: group(self._context, tree, self._place))

    def _grouped(self, read: Any) -> Expressions:
        if self._groups is None:
            return self._plain()
        return Expressions(self._context, self._plain().group, read, self._named)

    def _refused(self, variable: Variable) -> Expression:
        assert self._groups is not None
        if variable in self._groups.names or variable in self._aliases:
            return Read(variable)
        raise _ungrouped(variable)

    def _sampled(self, variable: Variable) -> Expression:
        # Section 18.2.4.1: HAVING and ORDER BY read any value of the group.
        assert self._groups is not None
        if variable in self._groups.names or variable in self._aliases or variable not in variables(self._inner):
            return Read(variable)
        return self._variable(Aggregate("SAMPLE", Read(variable)))

    def _of_group(self, variable: Variable) -> Expression:
        if variable in self._aliases:
            # It would be unbound, and HAVING false for all groups.
            raise ProgrammingError(f"HAVING reads ?{variable.name}, which SELECT makes after it: repeat the expression")
        return self._sampled(variable)

    def _named(self, tree: Tree) -> Expression:
        return self._variable(self._aggregate(tree))

    def _variable(self, aggregate: Aggregate) -> Expression:
        assert self._groups is not None
        if aggregate not in self._groups.aggregates:
            self._groups.aggregates[aggregate] = self._context.hidden()
        return Read(self._groups.aggregates[aggregate])

    def _aggregate(self, tree: Tree) -> Aggregate:
        name = tree.rule.removeprefix("Aggregate_").upper()
        argument = tree.one("vars")
        separator = tree.one("separator")
        return Aggregate(
            _AGGREGATES.get(name, name),
            None if argument == "*" else self._plain().of(argument),
            tree.one("distinct") == "DISTINCT",
            " " if separator is None else separator.lexical,
        )


def _empty_groups(pattern: Pattern, place: EachNamed, named: Sequence[tuple[Variable, Aggregate]]) -> Pattern:
    """Return the one group of each graph in which the pattern has no solution, as aggregates are of nothing."""
    empty: Pattern = Minus(Bgp((), place), Project(pattern, (place.variable,)))
    for variable, aggregate in named:
        if aggregate.name in _OF_NOTHING:
            empty = Extend(empty, variable, Constant(_OF_NOTHING[aggregate.name]))
    return empty


def in_order(tree: Tree, found: tuple[Variable, ...]) -> tuple[Variable, ...]:
    """Return variables as they come in the text, those last that do not."""
    return tuple(dict.fromkeys([*(variable for variable in _written(tree) if variable in set(found)), *found]))


def _ungrouped(variable: Variable) -> ProgrammingError:
    name = variable.name
    return ProgrammingError(f"?{name} is neither a key of GROUP BY nor within an aggregate: group by it, or select (SAMPLE(?{name}) AS ..)")


def _sole(tree: Any) -> Tree | None:
    """Return the aggregate that is all of an expression."""
    while isinstance(tree, Tree) and not tree.rule.startswith("Aggregate_"):
        if list(tree.parts) != ["expr"] or tree.rule.startswith("Unary"):
            return None
        tree = tree.one("expr")
    return tree if isinstance(tree, Tree) else None


def _has_aggregate(found: Any) -> bool:
    if isinstance(found, (list, tuple)):
        return any(_has_aggregate(one) for one in found)
    if not isinstance(found, Tree) or found.rule in ("SubSelect", "GroupGraphPatternSub"):
        return False
    return found.rule.startswith("Aggregate_") or any(_has_aggregate(one) for one in found.parts.values())


def _written(found: Any, *, everywhere: bool = False) -> Iterator[Variable]:
    """Yield the variables of a text as they come; those of filters and MINUS, which bind none, only where asked for."""
    if isinstance(found, Variable):
        yield found
    elif isinstance(found, list):
        for one in found:
            yield from _written(one, everywhere=everywhere)
    elif isinstance(found, Tree) and (everywhere or found.rule not in ("Filter", "MinusGraphPattern")):
        for one in found.parts.values():
            yield from _written(one, everywhere=everywhere)
