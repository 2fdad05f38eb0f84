"""Group graph patterns (section 18.2.2 of SPARQL 1.1)."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.sparql.algebra import (
    Bgp,
    Distinct,
    EachNamed,
    Expression,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Place,
    Project,
    Read,
    Source,
    Triple,
    Union,
    Values,
    Variable,
    variables,
)
from imp_driver.sparql.certain import certain
from imp_driver.sparql.reading.context import Context
from imp_driver.sparql.reading.expressions import Expressions
from imp_driver.sparql.reading.joining import conjunction, filtered, joined, matched, visible
from imp_driver.sparql.reading.paths import steps
from imp_driver.sparql.reading.tree import Tree


def group(context: Context, tree: Tree, place: Place | None) -> Pattern:
    """Return the pattern of what stands in braces; ``place`` None is the default graph, of which an error is told where it is missed.

    Raises:
        ProgrammingError: a rule of the language is broken that its grammar does not know.
        NotSupportedError: SERVICE, or what has no meaning in terms of the other operators.
    """
    return filtered(*_GroupReader(context, place).read(tree))


def flat_triples(blocks: Any) -> list[tuple[Any, Any, Any]]:
    """Return the triples of a block of the parse tree."""
    leaves = [leaf for block in blocks for leaf in block]
    return [(leaves[place], leaves[place + 1], leaves[place + 2]) for place in range(0, len(leaves), 3)]


def values(context: Context, tree: Tree) -> Values:
    """Return inline data.

    Raises:
        ProgrammingError: a row has another number of values than there are variables.
    """
    names: tuple[Variable, ...] = tuple(tree.many("var"))
    rows = [row if isinstance(row, list) else [row] for row in tree.many("value")]
    # The parser gives an empty row as the empty list of RDF.
    rows = [[] if not names else row for row in rows]
    if any(len(row) != len(names) for row in rows) or len(set(names)) != len(names):
        raise ProgrammingError(f"VALUES has {len(names)} variables, each once, and rows of as many values; UNDEF stands for none")
    return Values(names, tuple(tuple(None if one == "UNDEF" else context.names.term(one) for one in row) for row in rows))


class _GroupReader:
    """Reads one group: its parts are joined as they come, its filters hold for all of it."""

    def __init__(self, context: Context, place: Place | None) -> None:
        self._context = context
        self._given = place
        self._pattern: Pattern = Bgp((), () if place is None else place)
        self._expressions = Expressions(context, lambda tree: group(context, tree, place))
        self._in_block = False

    @property
    def _place(self) -> Place:
        return self._context.dataset.outside() if self._given is None else self._given

    def read(self, tree: Tree) -> tuple[Pattern, list[Expression]]:
        if tree.rule == "SubSelect":
            return self._context.select(self._context, tree, self._given), []
        conditions = []
        for part in tree.many("part"):
            if part.rule == "Filter":
                conditions.append(part.one("expr"))
            elif part.rule == "TriplesBlock":
                self._block(part)
            else:
                self._in_block = False
                self._other(part)
        # Filters may have patterns, whose blank nodes are not those of the last block.
        return self._pattern, [self._expressions.of(condition) for condition in conditions]

    def _block(self, part: Tree) -> None:
        if not self._in_block:
            self._context.begin_block()
        self._in_block = True
        triples: list[Triple] = []
        others: list[Pattern] = []
        for subject, predicate, object_ in flat_triples(part.many("triples")):
            ends = self._context.node(subject), self._context.node(object_)
            own, more = steps(self._context, predicate, *ends, self._place)
            triples += own
            others += more
        self._join(matched(triples, others, self._place))

    def _other(self, part: Tree) -> None:
        match part.rule:
            case "GroupOrUnionGraphPattern":
                self._join(reduce(Union, [group(self._context, one, self._given) for one in part.many("graph")]))
            case "OptionalGraphPattern":
                right, conditions = _GroupReader(self._context, self._given).read(part.one("graph"))
                self._pattern = LeftJoin(self._pattern, right, conjunction(conditions))
            case "MinusGraphPattern":
                self._minus(group(self._context, part.one("graph"), self._given))
            case "GraphGraphPattern":
                self._join(self._in_graph(part.one("term"), part.one("graph")))
            case "Bind":
                self._bind(part.one("var"), part.one("expr"))
            case "InlineData":
                self._join(values(self._context, part))
            case _:
                raise NotSupportedError(f"{part.rule} is no part of a group that this driver knows")

    def _join(self, other: Pattern) -> None:
        self._pattern = joined(self._pattern, other)

    def _in_graph(self, term: Any, tree: Tree) -> Pattern:
        """Return the pattern of GRAPH: its group is evaluated in each graph, whose name is joined to it then (section 18.6)."""
        context = self._context
        if not isinstance(term, Variable):
            place: tuple[Source, ...] = context.dataset.graph(context.names.graph(term))
            pattern = group(context, tree, place)
            # A table is there, with triples or without.
            is_table = any(source.name is None for source in place)
            return pattern if is_table or _needs_triples(pattern, place) else Join(self._existing(place), pattern)
        each = context.dataset.each(term)
        if not _sees(tree, term):
            return group(context, tree, each)
        # What the group itself says of the variable must not see the name of the graph before it is done.
        hidden = replace(each, variable=context.hidden())
        return Join(group(context, tree, hidden), Extend(Bgp((), hidden), term, Read(hidden.variable)))

    def _existing(self, place: Place) -> Pattern:
        """Return one solution if there is a triple: named graphs without triples do not exist."""
        triple = Triple(self._context.hidden(), self._context.hidden(), self._context.hidden())
        return Distinct(Project(Bgp((triple,), place), ()))

    def _bind(self, variable: Variable, expression: Any) -> None:
        if variable in variables(self._pattern):
            raise ProgrammingError(f"BIND(.. AS ?{variable.name}): the group before it has ?{variable.name} already; take another name")
        self._pattern = Extend(self._pattern, variable, self._expressions.of(expression))

    def _minus(self, right: Pattern) -> None:
        if not isinstance(self._given, EachNamed):
            self._pattern = Minus(self._pattern, right)
            return
        # Of one graph each: its name, which both sides have here, is none of the variables that must be shared.
        shared = (set(visible(self._pattern)) & set(visible(right))) - {self._given.variable}
        if shared & certain(self._pattern) & certain(right):
            self._pattern = Minus(self._pattern, right)
        elif shared:
            name = self._given.variable.name
            raise NotSupportedError(f"MINUS within GRAPH ?{name} by variables that may be unbound: give it a variable that both sides bind")


def _sees(tree: Tree, name: Variable) -> bool:
    """Return whether a group within GRAPH of a variable would have another result if the variable was bound to the graph's name in it.

    Triples and data that have the variable are joined to the name in either way; of subqueries ``select`` knows itself.
    """
    for part in tree.many("part"):
        match part.rule:
            case "TriplesBlock" | "InlineData":
                continue
            case "GroupOrUnionGraphPattern":
                is_seen = any(_sees(each, name) for each in part.many("graph"))
            case "GraphGraphPattern":
                is_seen = _sees(part.one("graph"), name)
            case _:
                is_seen = _mentions(part, name)
        if is_seen:
            return True
    return False


def _mentions(part: Any, variable: Variable) -> bool:
    """Return whether a part of the parse tree has a variable."""
    match part:
        case Tree():
            return any(_mentions(each, variable) for each in part.parts.values())
        case list() | tuple():
            return any(_mentions(each, variable) for each in part)
        case _:
            return bool(part == variable)


def _needs_triples(pattern: Pattern, place: Place) -> bool:
    """Return whether a pattern has solutions only where there are triples of a place."""
    match pattern:
        case Bgp(triples, own):
            return bool(triples) and own == place
        case Join(left, right):
            return _needs_triples(left, place) or _needs_triples(right, place)
        case Union(left, right):
            return _needs_triples(left, place) and _needs_triples(right, place)
        case LeftJoin(inner, _) | Minus(inner, _) | Filter(inner, _) | Extend(inner, _, _) | Project(inner, _) | Distinct(inner):
            return _needs_triples(inner, place)
        case _:
            return False
