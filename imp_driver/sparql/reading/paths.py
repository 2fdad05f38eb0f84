"""Property paths, spelled out by triples, unions, filters and closures (section 18.4 of SPARQL 1.1)."""

from __future__ import annotations

from functools import reduce
from typing import Any

from imp_driver.errors import NotSupportedError
from imp_driver.sparql.algebra import Bgp, Call, Closure, Constant, Filter, Node, Pattern, Place, Read, Triple, Union
from imp_driver.sparql.reading.context import Context
from imp_driver.sparql.reading.joining import matched
from imp_driver.sparql.reading.tree import Tree

Steps = tuple[list[Triple], list[Pattern]]
"""Triples, and other patterns, that together are a path."""


def steps(context: Context, path: Any, subject: Node, object_: Node, place: Place) -> Steps:
    """Return a path between two nodes; a sequence has a hidden variable between its parts, so that each way counts."""
    match path:
        case Tree("PathAlternative" | "PathSequence" | "PathElt") if path.one("mod") is None and len(path.many("part")) == 1:
            return steps(context, path.many("part")[0], subject, object_, place)
        case Tree("PathAlternative"):
            parts = [_pattern(context, part, subject, object_, place) for part in path.many("part")]
            return [], [reduce(Union, parts)]
        case Tree("PathSequence"):
            return _sequence(context, path, subject, object_, place)
        case Tree("PathElt"):
            start, end, mark = context.hidden(), context.hidden(), path.one("mod")
            step = _pattern(context, path.many("part")[0], start, end, place)
            return [], [Closure(subject, object_, step, start, end, mark in "*?", mark in "*+", place)]
        case Tree("PathEltOrInverse"):
            return steps(context, path.many("part")[0], object_, subject, place)
        case Tree("PathNegatedPropertySet"):
            return _negated(context, path, subject, object_, place)
        case Tree():
            raise NotSupportedError("DISTINCT of a property path is no SPARQL 1.1: use SELECT DISTINCT in a subquery")
        case _:
            return [Triple(subject, context.node(path), object_)], []


def _pattern(context: Context, path: Any, subject: Node, object_: Node, place: Place) -> Pattern:
    return matched(*steps(context, path, subject, object_, place), place)


def _sequence(context: Context, path: Tree, subject: Node, object_: Node, place: Place) -> Steps:
    parts = path.many("part")
    nodes: list[Node] = [subject, *(context.hidden() for _ in parts[1:]), object_]
    triples, others = [], []
    for part, start, end in zip(parts, nodes, nodes[1:], strict=False):
        own_triples, own_others = steps(context, part, start, end, place)
        triples += own_triples
        others += own_others
    return triples, others


def _negated(context: Context, path: Tree, subject: Node, object_: Node, place: Place) -> Steps:
    parts = path.many("part")
    inverse = [part.one("part") for part in parts if isinstance(part, Tree)]
    forward = [part for part in parts if not isinstance(part, Tree)]
    ways = [_others(context, forward, subject, object_, place)] if forward or not inverse else []
    ways += [_others(context, inverse, object_, subject, place)] if inverse else []
    # A single way without a filter would be a triple; as a pattern it joins the same.
    return [], [reduce(Union, ways)]


def _others(context: Context, predicates: list[Any], subject: Node, object_: Node, place: Place) -> Pattern:
    predicate = context.hidden()
    triples = Bgp((Triple(subject, predicate, object_),), place)
    if not predicates:
        return triples
    return Filter(triples, Call("NOT IN", (Read(predicate), *(Constant(context.names.term(one)) for one in predicates))))
