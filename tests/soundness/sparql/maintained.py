"""What is judged: a query whose solutions the driver's operators maintain, without an engine around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from imp_driver.dataflow.mappings.circuit import Circuit
from imp_driver.sparql import terms
from imp_driver.sparql.algebra import Form, Node, Query, Source, Triple, Variable
from imp_driver.sparql.read import read_query
from imp_driver.sparql.terms import Term, TermKind
from tests.soundness.sparql.solutions import Row, Solutions
from tests.soundness.sparql.triples import Quad

TABLE = "triples"
DEFAULT = (Source(TABLE),)


class Maintained:
    """Solutions that follow the triples that come and go.

    Raises:
        NotSupportedError: the driver refuses the query.
    """

    def __init__(self, text: str) -> None:
        self._query = read_query(text, default=DEFAULT)
        self._circuit = Circuit(self._query.pattern)
        self._circuit.step({})

    def change(self, quad: Quad, sign: int) -> None:
        graph, *triple = quad
        self._circuit.step({TABLE: {(*triple, graph): sign}})  # type: ignore[dict-item]

    def solutions(self) -> Solutions:
        return told(self._query, self._circuit.variables, self._circuit.ordered())


def told(query: Query, variables: Sequence[Variable], rows: Sequence[Row]) -> Solutions:
    """Return what a query tells of the solutions of its pattern."""
    names = tuple(variable.name for variable in query.columns)
    match query.form:
        case Form.ASK:
            return Solutions((), ((),) if rows else ())
        case Form.CONSTRUCT:
            solutions = [dict(zip(variables, row, strict=True)) for row in rows]
            made = [triple for number, each in enumerate(solutions) for triple in instances(query.template, each, f"made{number}")]
            return Solutions(names, tuple(dict.fromkeys(made)))
        case _:
            places = [variables.index(variable) for variable in query.columns]
            return Solutions(names, tuple(tuple(row[place] for place in places) for row in rows))


def instances(template: Iterable[Triple], solution: Mapping[Variable, Term | None], label: str) -> Iterator[tuple[Term, Term, Term]]:
    """Return the triples of a template for a solution, those alone that are whole and triples of RDF.

    Args:
        label: what labels of new blank nodes begin with.
    """
    for triple in template:
        subject, predicate, value = (_instance(node, solution, label) for node in triple.nodes)
        if subject is None or predicate is None or value is None:
            continue
        if terms.kind(subject) is not TermKind.LITERAL and terms.kind(predicate) is TermKind.IRI:
            yield subject, predicate, value


def _instance(node: Node, solution: Mapping[Variable, Term | None], label: str) -> Term | None:
    if not isinstance(node, Variable):
        return node
    return terms.blank(label + node.name.removeprefix("_:")) if node.is_hidden else solution.get(node)
