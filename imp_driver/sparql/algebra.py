"""Queries and updates of SPARQL 1.1 as values: patterns with their operators, expressions, what is asked.

Blank nodes of patterns are variables whose names begin with ``_:``; no result has these. What has no operator of its own is spelled out by
those that are here: of property paths ``/``, ``|``, ``^`` and ``!`` are joins, unions, turned triples and filters.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from imp_driver.sparql.terms import Term


@dataclass(frozen=True, slots=True, order=True)
class Variable:
    """``name`` without its question mark."""

    name: str

    @property
    def is_hidden(self) -> bool:
        """Whether no result shows it."""
        return self.name.startswith("_:")


Node: TypeAlias = Variable | Term


# Which triples are looked at.


@dataclass(frozen=True, slots=True)
class Source:
    """One graph: of the rows of ``table`` those of the named graph ``name``; None stands for its default graph."""

    table: str
    name: Term | None = None


@dataclass(frozen=True, slots=True)
class EachNamed:
    """Each of several graphs by itself, ``variable`` bound to its name.

    Attributes:
        sources: graphs with the names that they go by; empty: all named graphs of ``tables``.
    """

    variable: Variable
    tables: tuple[str, ...] = ()
    sources: tuple[tuple[Term, Source], ...] = ()


Place: TypeAlias = tuple[Source, ...] | EachNamed
"""Graphs whose triples are one set together, or each by itself. No source: no triple."""


# Expressions.


@dataclass(frozen=True, slots=True)
class Constant:
    term: Term


@dataclass(frozen=True, slots=True)
class Read:
    variable: Variable


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or a function.

    ``name`` is one of ``= != < > <= >= && || ! + - * / NEGATE IN "NOT IN"``, a function of SPARQL 1.1 in upper case (``BOUND``, ``IF``,
    ``COALESCE``, ``STR``, ``REGEX`` ..), or the IRI of a cast or another function as a term (``<http://www.w3.org/2001/XMLSchema#integer>``).
    ``IN`` has what is looked for and then the list. ``IRI`` has the base of the query as a second argument where it has one; ``URI`` and
    ``ISURI`` are ``IRI`` and ``ISIRI``.
    """

    name: str
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Exists:
    """Whether the pattern, with the solution's values in the places of its variables, has a solution."""

    pattern: Pattern
    is_negated: bool = False


Expression: TypeAlias = Constant | Read | Call | Exists


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``name`` is COUNT, SUM, AVG, MIN, MAX, SAMPLE or GROUP_CONCAT; without an ``argument``, COUNT counts solutions."""

    name: str
    argument: Expression | None = None
    is_distinct: bool = False
    separator: str = " "


# Patterns.


@dataclass(frozen=True, slots=True)
class Triple:
    subject: Node
    predicate: Node
    object: Node

    @property
    def nodes(self) -> tuple[Node, Node, Node]:
        return self.subject, self.predicate, self.object


@dataclass(frozen=True, slots=True)
class Bgp:
    """Basic graph pattern, over one place.

    Without triples it has one solution, which binds nothing; over ``EachNamed`` one for each graph, which binds its name.
    """

    triples: tuple[Triple, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Closure:
    """A path of steps: ``step`` has pairs of ``start`` and ``end``, each of which counts once.

    ``*`` has zero steps and is repeated, ``+`` is repeated, ``?`` has zero steps. Zero steps lead from each term of the place (as a subject
    or an object), and from a term that is given as an end, to itself. Each pair of ends is one solution, however many ways lead from one
    to the other.
    """

    subject: Node
    object: Node
    step: Pattern
    start: Variable
    end: Variable
    has_zero: bool
    is_repeated: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Join:
    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """OPTIONAL; ``condition`` may read variables of both sides."""

    left: Pattern
    right: Pattern
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Union:
    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Minus:
    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Filter:
    pattern: Pattern
    condition: Expression


@dataclass(frozen=True, slots=True)
class Extend:
    """BIND, and ``(expression AS ?variable)``; an error leaves the variable unbound."""

    pattern: Pattern
    variable: Variable
    expression: Expression


@dataclass(frozen=True, slots=True)
class Values:
    """VALUES; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Term | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Solutions grouped by ``keys``, each an expression under a variable (hidden where the query names none).

    Without ``keys`` all solutions are one group, also where there are none. ``aggregates`` bind variables, hidden ones too.
    """

    pattern: Pattern
    keys: tuple[tuple[Variable, Expression], ...]
    aggregates: tuple[tuple[Variable, Aggregate], ...]


@dataclass(frozen=True, slots=True)
class Project:
    pattern: Pattern
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Distinct:
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class OrderBy:
    """``conditions`` are expressions, each with whether it is DESC."""

    pattern: Pattern
    conditions: tuple[tuple[Expression, bool], ...]


@dataclass(frozen=True, slots=True)
class Slice:
    pattern: Pattern
    offset: int = 0
    limit: int | None = None


Pattern: TypeAlias = (
    Bgp | Closure | Join | LeftJoin | Union | Minus | Filter | Extend | Values | Group | Project | Distinct | OrderBy | Slice
)


# What is asked.


class Form(Enum):
    SELECT = "SELECT"
    ASK = "ASK"
    CONSTRUCT = "CONSTRUCT"
    DESCRIBE = "DESCRIBE"


@dataclass(frozen=True, slots=True)
class Query:
    """A query.

    Attributes:
        pattern: what has solutions, with its modifiers; those of DESCRIBE are the triples themselves, each once, under its columns.
        columns: of the result: variables of SELECT in their order, ``subject``, ``predicate`` and ``object`` of CONSTRUCT and DESCRIBE.
        template: triples of CONSTRUCT; hidden variables are blank nodes, new ones for each solution.
    """

    form: Form
    pattern: Pattern
    columns: tuple[Variable, ...]
    template: tuple[Triple, ...] = ()


# What changes graphs.


@dataclass(frozen=True, slots=True)
class Quad:
    """A triple, or a template of some, of one graph, which for templates may be a variable's value within ``source.table``."""

    triple: Triple
    source: Source
    graph: Variable | None = None


@dataclass(frozen=True, slots=True)
class Modify:
    """DELETE and INSERT for the solutions of ``pattern``; INSERT DATA and DELETE DATA have the one solution of ``Values((), ((),))``.

    Deleted first, then inserted. Hidden variables of ``inserted``, which no solution binds, are blank nodes, new ones for each solution. A
    triple with a variable that the solution leaves unbound, or that would be none (a literal as its subject), is left out.
    """

    deleted: tuple[Quad, ...]
    inserted: tuple[Quad, ...]
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Load:
    location: str
    target: Source
    is_silent: bool = False


@dataclass(frozen=True, slots=True)
class Clear:
    """CLEAR and DROP of graphs: those of ``sources``, and all named ones of ``tables``."""

    sources: tuple[Source, ...]
    tables: tuple[str, ...] = ()
    is_silent: bool = False


Update: TypeAlias = Modify | Load | Clear


def variables(pattern: Pattern) -> tuple[Variable, ...]:
    """Return the variables that solutions of a pattern may bind, hidden ones too, each once in the order in which they are met."""
    return tuple(dict.fromkeys(_met(pattern)))


def _met(pattern: Pattern) -> list[Variable]:
    match pattern:
        case Bgp(triples, place):
            nodes = [node for triple in triples for node in triple.nodes]
            graph = [place.variable] if isinstance(place, EachNamed) else []
            return [*(node for node in nodes if isinstance(node, Variable)), *graph]
        case Closure():
            ends = [node for node in (pattern.subject, pattern.object) if isinstance(node, Variable)]
            return [*ends, pattern.place.variable] if isinstance(pattern.place, EachNamed) else ends
        case Join(left, right) | Union(left, right) | LeftJoin(left, right):
            return [*_met(left), *_met(right)]
        case Minus(left, _):
            return _met(left)
        case Extend(inner, variable, _):
            return [*_met(inner), variable]
        case Values(names, _):
            return list(names)
        case Group(_, keys, aggregates):
            return [*(name for name, _ in keys), *(name for name, _ in aggregates)]
        case Project(_, names):
            return list(names)
        case Filter(inner, _) | Distinct(inner) | OrderBy(inner, _) | Slice(inner):
            return _met(inner)
