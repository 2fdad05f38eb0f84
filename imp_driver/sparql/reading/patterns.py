"""Group graph patterns (section 18.2.2 of SPARQL 1.1)."""

from __future__ import annotations

from functools import reduce
from typing import Any

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.sparql.algebra import (
    Bgp,
    EachNamed,
    Expression,
    Extend,
    LeftJoin,
    Minus,
    Pattern,
    Place,
    Triple,
    Union,
    Values,
    Variable,
    variables,
)
from imp_driver.sparql.reading.context import Context
from imp_driver.sparql.reading.expressions import Expressions
from imp_driver.sparql.reading.joining import bound, conjunction, filtered, joined, matched, visible
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
                self._join(group(self._context, part.one("graph"), self._graph(part.one("term"))))
            case "Bind":
                self._bind(part.one("var"), part.one("expr"))
            case "InlineData":
                self._join(values(self._context, part))
            case _:
                raise NotSupportedError(f"{part.rule} is no part of a group that this driver knows")

    def _join(self, other: Pattern) -> None:
        self._pattern = joined(self._pattern, other)

    def _graph(self, term: Any) -> Place:
        if isinstance(term, Variable):
            return self._context.dataset.each(term)
        return self._context.dataset.graph(self._context.names.graph(term))

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
        if shared & bound(self._pattern) & bound(right):
            self._pattern = Minus(self._pattern, right)
        elif shared:
            name = self._given.variable.name
            raise NotSupportedError(f"MINUS within GRAPH ?{name} by variables that may be unbound: give it a variable that both sides bind")
