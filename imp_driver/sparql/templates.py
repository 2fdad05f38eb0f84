"""Triples that templates of updates, and of CONSTRUCT, make of solutions."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from imp_driver.sparql.algebra import Node, Quad, Variable
from imp_driver.sparql.terms import Term, TermKind, blank, kind

Row: TypeAlias = tuple[Term, Term, Term, Term | None]
"""Subject, predicate, object and the name of a graph, None for the default graph."""


def rows_of(
    templates: Sequence[Quad], names: Sequence[Variable], solutions: Iterable[Sequence[Term | None]], unique: str | None = None
) -> dict[str, dict[Row, None]]:
    """Return the triples of templates for each solution, each once, by the tables in which they are.

    A blank node of a template is a new one for each solution; no other node has its label, which begins with ``unique`` where that is
    given. What is no triple (something unbound, a literal as the subject, a predicate that is no IRI) is left out. Source: SPARQL 1.1
    Update, sections 3.1.1 and 3.1.3; SPARQL 1.1 Query, section 16.2.
    """
    found: dict[str, dict[Row, None]] = {quad.source.table: {} for quad in templates}
    unique = uuid.uuid4().hex if unique is None else unique
    for number, solution in enumerate(solutions):
        fresh = _Fresh(f"{unique}_{number}", dict(zip(names, solution, strict=True)))
        for quad in templates:
            row = _row(quad, fresh)
            if row is not None:
                found[quad.source.table][row] = None
    return found


class _Fresh:
    """The values of one solution, and its new blank nodes."""

    def __init__(self, suffix: str, values: Mapping[Variable, Term | None]) -> None:
        self._suffix = suffix
        self._values = values
        self._new: dict[Node, Term] = {}

    def value(self, node: Node) -> Term | None:
        is_given = node in self._values if isinstance(node, Variable) else kind(node) is not TermKind.BLANK
        if isinstance(node, Variable) and (is_given or not node.is_hidden):
            return self._values.get(node)
        return node if is_given and not isinstance(node, Variable) else self._blank(node)

    def _blank(self, node: Node) -> Term:
        return self._new.setdefault(node, blank(f"b{self._suffix}_{len(self._new)}"))


def _row(quad: Quad, fresh: _Fresh) -> Row | None:
    subject, predicate, object_ = (fresh.value(node) for node in quad.triple.nodes)
    if subject is None or predicate is None or object_ is None:
        return None
    if kind(subject) is TermKind.LITERAL or kind(predicate) is not TermKind.IRI:
        return None
    if quad.graph is None:
        return subject, predicate, object_, quad.source.name
    graph = fresh.value(quad.graph)
    return None if graph is None or kind(graph) is not TermKind.IRI else (subject, predicate, object_, graph)
