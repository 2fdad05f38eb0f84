"""Triples that CONSTRUCT makes of solutions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from imp_driver.dataflow.mappings.circuit import Row
from imp_driver.sparql.algebra import Node, Triple, Variable
from imp_driver.sparql.terms import Term, TermKind, blank, kind


def constructed(template: Sequence[Triple], variables: Sequence[Variable], solutions: Iterable[Row]) -> list[tuple[Term, Term, Term]]:
    """Return the triples of a template for each solution, each once, in the order in which they are met.

    A blank node of the template is another one for each solution. What is no triple (something unbound, a literal as the subject, a
    predicate that is no IRI) is left out. Source: SPARQL 1.1, section 16.2.
    """
    found: dict[tuple[Term, Term, Term], None] = {}
    hidden = dict.fromkeys(node for triple in template for node in triple.nodes if isinstance(node, Variable) and node.is_hidden)
    for number, solution in enumerate(solutions):
        values = dict(zip(variables, solution, strict=True)) | {node: blank(f"c{number}{node.name[2:]}") for node in hidden}
        for triple in template:
            made = _made(triple, values)
            if made is not None:
                found[made] = None
    return list(found)


def _made(triple: Triple, values: Mapping[Variable, Term | None]) -> tuple[Term, Term, Term] | None:
    subject, predicate, object_ = (_value(node, values) for node in triple.nodes)
    if subject is None or predicate is None or object_ is None:
        return None
    is_triple = kind(subject) is not TermKind.LITERAL and kind(predicate) is TermKind.IRI
    return (subject, predicate, object_) if is_triple else None


def _value(node: Node, values: Mapping[Variable, Term | None]) -> Term | None:
    return values.get(node) if isinstance(node, Variable) else node
