"""What variables patterns mention and surely bind, and patterns with terms in the places of variables (SPARQL 1.1, section 18.6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from imp_driver.dataflow.mappings.expressions import TRUE
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
    Group,
    Join,
    LeftJoin,
    Minus,
    Node,
    OrderBy,
    Pattern,
    Place,
    Project,
    Read,
    Slice,
    Triple,
    Union,
    Values,
    Variable,
)
from imp_driver.sparql.parts import every, rebuilt, within
from imp_driver.sparql.terms import Term

Binding: TypeAlias = Mapping[Variable, Term]


def mentioned(part: object) -> Iterator[Variable]:
    """Return all variables in a pattern or an expression, those that no solution has among them."""
    return (each for each in every(part) if isinstance(each, Variable))


def reached(part: object) -> Iterator[Variable]:
    """Yield the variables of a pattern that a solution around it may give values: a subquery shows those alone that it selects."""
    if isinstance(part, Project):
        shown = frozenset(part.variables)
        yield from (variable for variable in reached(part.pattern) if variable in shown)
    elif isinstance(part, Variable):
        yield part
    else:
        for each in within(part):
            yield from reached(each)


def places(part: object) -> Iterator[tuple[Place, tuple[Node, Node, Node] | None]]:
    """Yield each place that a pattern reads, with the nodes of its triple pattern; None where it reads all triples."""
    if isinstance(part, Bgp):
        if not part.triples and isinstance(part.place, EachNamed):
            yield part.place, None
        for triple in part.triples:
            yield part.place, triple.nodes
        return
    if isinstance(part, Closure) and reads_terms(part):
        yield part.place, None
    for each in within(part):
        yield from places(each)


def reads_terms(closure: Closure) -> bool:
    """Say whether the pairs of zero steps depend on the triples of the place."""
    are_given = not (isinstance(closure.subject, Variable) and isinstance(closure.object, Variable))
    return closure.has_zero and (isinstance(closure.place, EachNamed) or not are_given)


def substituted(pattern: Pattern, binding: Binding) -> Pattern:
    """Return a pattern with terms in the places of some variables, which its solutions bind no longer."""
    if not binding:
        return pattern
    match pattern:
        case Bgp(triples, place):
            return _at_place(Bgp(tuple([Triple(*[_node(node, binding) for node in triple.nodes]) for triple in triples]), place), binding)
        case Closure():
            own_ends = replace(pattern, subject=_node(pattern.subject, binding), object=_node(pattern.object, binding))
            return _at_place(own_ends, binding)
        case Join(left, right) | Union(left, right) | Minus(left, right):
            return type(pattern)(substituted(left, binding), substituted(right, binding))
        case LeftJoin(left, right, condition):
            read = None if condition is None else read_with(condition, binding)
            return LeftJoin(substituted(left, binding), substituted(right, binding), read)
        case Filter(inner, condition):
            return Filter(substituted(inner, binding), read_with(condition, binding))
        case Extend(inner, variable, expression):
            own, expression = substituted(inner, binding), read_with(expression, binding)
            return own_value(own, expression, binding[variable]) if variable in binding else Extend(own, variable, expression)
        case Values(names, rows):
            return _values(names, rows, binding)
        case Project(inner, names):
            shown = {name: term for name, term in binding.items() if name in names}
            return Project(substituted(inner, shown), tuple(name for name in names if name not in shown))
        case Distinct(inner):
            return Distinct(substituted(inner, binding))
        case OrderBy(inner, conditions):
            return OrderBy(substituted(inner, binding), tuple((read_with(each, binding), is_down) for each, is_down in conditions))
        case Slice(inner, offset, limit):
            return Slice(substituted(inner, binding), offset, limit)
        case Group():
            return _group(pattern, binding)


def read_with(expression: Expression, binding: Binding) -> Expression:
    """Return an expression with terms in the places of some variables."""
    match expression:
        case Read(variable) if variable in binding:
            return Constant(binding[variable])
        case Call(name, arguments):
            if name == "BOUND" and isinstance(arguments[0], Read) and arguments[0].variable in binding:
                return Constant(TRUE)
            return Call(name, tuple([read_with(argument, binding) for argument in arguments]))
        case Exists(pattern, is_negated):
            return Exists(substituted(pattern, binding), is_negated)
        case _:
            return expression


def own_value(pattern: Pattern, expression: Expression, term: Term) -> Pattern:
    """Return the solutions for which an expression has a certain value, or none: what is substituted stands for what would be bound."""
    is_same = Call("SAMETERM", (expression, Constant(term)))
    return Filter(pattern, Call("COALESCE", (is_same, Constant(TRUE))))


def _node(node: Node, binding: Binding) -> Node:
    return binding.get(node, node) if isinstance(node, Variable) else node


def _at_place(pattern: Bgp | Closure, binding: Binding) -> Pattern:
    """Return a pattern whose graph is the one that its variable has."""
    place = pattern.place
    if not isinstance(place, EachNamed) or place.variable not in binding:
        return pattern
    name = Variable(f"_:graph {place.variable.name}")
    is_same = Call("SAMETERM", (Read(name), Constant(binding[place.variable])))
    own = replace(pattern, place=replace(place, variable=name))
    if isinstance(own, Closure):
        own = replace(own, step=_renamed(own.step, place.variable, name))
    return Filter(own, is_same)


def _renamed(part: Pattern, variable: Variable, name: Variable) -> Pattern:
    """Return a pattern with another name for a variable."""
    found = _renamed_part(part, variable, name)
    assert isinstance(found, type(part))
    return found


def _renamed_part(part: object, variable: Variable, name: Variable) -> object:
    if part == variable:
        return name
    return rebuilt(part, lambda each: _renamed_part(each, variable, name))


def _values(names: tuple[Variable, ...], rows: tuple[tuple[Term | None, ...], ...], binding: Binding) -> Values:
    left = [place for place, name in enumerate(names) if name not in binding]
    fits = [row for row in rows if all(term is None or binding.get(name, term) == term for name, term in zip(names, row, strict=True))]
    return Values(tuple([names[place] for place in left]), tuple([tuple([row[place] for place in left]) for row in fits]))


def _group(group: Group, binding: Binding) -> Pattern:
    inner = substituted(group.pattern, binding)
    keys = tuple([(name, read_with(expression, binding)) for name, expression in group.keys])
    aggregates = tuple([(name, _aggregate(aggregate, binding)) for name, aggregate in group.aggregates])
    found: Pattern = Group(inner, keys, aggregates)
    bound = [name for name, _ in (*keys, *aggregates) if name in binding]
    for name in bound:
        found = own_value(found, Read(name), binding[name])
    left = tuple([name for name, _ in (*keys, *aggregates) if name not in binding])
    return Project(found, left) if bound else found


def _aggregate(aggregate: Aggregate, binding: Binding) -> Aggregate:
    return aggregate if aggregate.argument is None else replace(aggregate, argument=read_with(aggregate.argument, binding))
