"""Results that the suites expect, in the forms that their files have: XML, JSON, TSV, CSV, triples, and solutions written as triples."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from pathlib import PurePath

import pyoxigraph

from imp_driver.sparql import terms
from imp_driver.sparql.terms import RDF, Term
from tests.soundness.sparql.carried import files, text
from tests.soundness.sparql.solutions import TRIPLE, Row, Solutions
from tests.soundness.sparql.triples import Triple, term, triples

_SET = "<http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
_FORMATS = {
    ".srx": pyoxigraph.QueryResultsFormat.XML,
    ".srj": pyoxigraph.QueryResultsFormat.JSON,
    ".tsv": pyoxigraph.QueryResultsFormat.TSV,
}


def result(path: str) -> Solutions:
    """Return the result that a file has.

    Of CSV, which has no types, the values are all texts (``written`` makes such ones of solutions).
    """
    suffix = PurePath(path).suffix
    if suffix == ".csv":
        return _of_csv(text(path))
    if suffix in _FORMATS:
        return told(pyoxigraph.parse_query_results(files()[path], _FORMATS[suffix]))
    found = triples(path)
    is_set = any(predicate == f"<{RDF}type>" and value == f"{_SET}ResultSet>" for _, predicate, value in found)
    return _of_triples(found) if is_set else Solutions(TRIPLE, tuple(dict.fromkeys(found)))


def told(found: object) -> Solutions:
    """Return what pyoxigraph tells."""
    match found:
        case pyoxigraph.QueryBoolean():
            return Solutions((), ((),) if found else ())
        case pyoxigraph.QueryTriples():
            rows = [(term(each.subject), term(each.predicate), term(each.object)) for each in found]
            return Solutions(TRIPLE, tuple(dict.fromkeys(rows)))
        case pyoxigraph.QuerySolutions():
            columns = tuple(each.value for each in found.variables)
            values = [tuple(None if each is None else term(each) for each in solution) for solution in found]
            return Solutions(columns, tuple(values))
    raise AssertionError(f"no result: {found!r}")


def written(solutions: Solutions) -> Solutions:
    """Return solutions as CSV has them: texts without types, nothing in the place of an empty text too."""
    return Solutions(solutions.columns, tuple(tuple(map(_untyped, row)) for row in solutions.rows))


def _untyped(value: Term | None) -> Term | None:
    if value is None or value.startswith("_:"):
        return value
    return terms.literal(terms.shown(value)) if terms.shown(value) else None


def _of_csv(content: str) -> Solutions:
    header, *lines = csv.reader(io.StringIO(content))
    return Solutions(tuple(header), tuple(tuple(map(_read, line)) for line in lines))


def _read(value: str) -> Term | None:
    if value.startswith("_:"):
        return value
    return terms.literal(value) if value else None


def _of_triples(found: list[Triple]) -> Solutions:
    values: dict[tuple[Term, str], list[Term]] = defaultdict(list)
    for subject, predicate, value in found:
        values[subject, predicate.removeprefix(_SET).rstrip(">")].append(value)
    whole = next(subject for subject, predicate, value in found if value == f"{_SET}ResultSet>")
    if decided := values.get((whole, "boolean")):
        return Solutions((), ((),) if terms.lexical(decided[0]) in ("true", "1") else ())
    columns = tuple(terms.lexical(each) for each in values.get((whole, "resultVariable"), []))
    rows: list[tuple[int, Row]] = []
    for solution in values.get((whole, "solution"), []):
        bound = {terms.lexical(values[each, "variable"][0]): values[each, "value"][0] for each in values.get((solution, "binding"), [])}
        index = values.get((solution, "index"))
        rows.append((int(terms.lexical(index[0])) if index else 0, tuple(bound.get(name) for name in columns)))
    return Solutions(columns, tuple(row for _, row in sorted(rows, key=lambda each: each[0])))
