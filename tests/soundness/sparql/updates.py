"""Updates of the suites, done with the solutions that the driver's operators find, and compared with what the suites say is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from imp_driver.dataflow.mappings.circuit import Circuit
from imp_driver.errors import ProgrammingError
from imp_driver.sparql.algebra import Clear, Load, Modify, Source, Update, Variable
from imp_driver.sparql.algebra import Quad as Template
from imp_driver.sparql.read import read_updates
from imp_driver.sparql.terms import Term
from tests.soundness.sparql.maintained import DEFAULT, TABLE, instances
from tests.soundness.sparql.solutions import Solutions, are_same
from tests.soundness.sparql.suite import Case
from tests.soundness.sparql.triples import Quad, quads

_COLUMNS = ("graph", "subject", "predicate", "object")


def is_left(case: Case) -> str:
    """Return what is left after a case's updates where it is not what should be; an empty text where it is.

    Raises:
        Error: the driver refuses the text.
    """
    found = frozenset(quads(case.loaded))
    for number, update in enumerate(read_updates(case.text, default=DEFAULT[0])):
        found = updated(found, update, f"update{number}")
    expected = quads(case.left)
    are_equal = are_same(Solutions(_COLUMNS, tuple(found)), Solutions(_COLUMNS, tuple(expected)))
    return "" if are_equal else f"found {sorted(map(str, found))}, expected {sorted(map(str, expected))}"


def updated(present: frozenset[Quad], update: Update, label: str) -> frozenset[Quad]:
    """Return the triples after an update.

    Args:
        label: what labels of new blank nodes begin with.

    Raises:
        ProgrammingError: a file to load that is not there.
    """
    match update:
        case Modify(deleted, inserted, pattern):
            circuit = Circuit(pattern)
            circuit.step({TABLE: {(subject, predicate, value, graph): 1 for graph, subject, predicate, value in present}})
            solutions = [dict(zip(circuit.variables, row, strict=True)) for row in circuit.ordered()]
            gone = {each for solution in solutions for each in _quads(deleted, solution, label)}
            come = {each for number, solution in enumerate(solutions) for each in _quads(inserted, solution, f"{label}_{number}_")}
            return (present - gone) | come
        case Clear(sources, tables):
            return frozenset(quad for quad in present if Source(TABLE, quad[0]) not in sources and not (tables and quad[0] is not None))
        case Load(location, _, is_silent):
            if is_silent:
                return present
            raise ProgrammingError(f"there is no file {location}")


def _quads(templates: Iterable[Template], solution: Mapping[Variable, Term | None], label: str) -> Iterator[Quad]:
    for template in templates:
        graph = template.source.name if template.graph is None else solution.get(template.graph)
        if template.graph is None or graph is not None:
            yield from ((graph, *triple) for triple in instances([template.triple], solution, label))
