"""Rows of a graph's table as quads: the query that loads those that patterns can match, and what Arrow has of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.mappings.circuit import QuadRow
from imp_driver.reasons import Reason
from imp_driver.sparql.graph_table import COLUMNS
from imp_driver.sparql.terms import Term
from imp_driver.values.quoting import quoted_name, quoted_text
from imp_driver.values.refusal import Refused

_MOST_CONDITIONS = 200

Wanted: TypeAlias = Sequence[tuple[Term | None, Term | None, Term | None]]
"""Subjects, predicates and objects of triples that patterns can match; None stands for any."""


def load_text(relation: str, wanted: Wanted) -> str:
    """Return the query of the rows of a table, named in SQL, that can matter."""
    columns = ", ".join(map(quoted_name, COLUMNS))
    conditions = sorted({_condition(each) for each in wanted})
    where = "" if "" in conditions or len(conditions) > _MOST_CONDITIONS else f" WHERE {' OR '.join(conditions) or 'false'}"
    return f"SELECT {columns} FROM {relation}{where}"


def _condition(constants: tuple[Term | None, Term | None, Term | None]) -> str:
    pairs = zip(COLUMNS, constants, strict=False)
    parts = [f"{quoted_name(column)} = {quoted_text(term)}" for column, term in pairs if term is not None]
    return f"({' AND '.join(parts)})" if parts else ""


def quads(rows: pa.Table, wanted: Wanted, weights: npt.NDArray[np.int64] | None = None) -> dict[QuadRow, int]:
    """Return the rows that can matter, each with how often it is there; with ``weights``, how many more there are.

    Raises Refused where one of them has a value that is no term.
    """
    predicates = {predicate for _, predicate, _ in wanted}
    if None not in predicates:
        is_read = pc.is_in(rows.column("p"), value_set=pa.array(sorted(filter(None, predicates)), pa.string()))
        rows = rows.filter(is_read)
        weights = None if weights is None else weights[np.asarray(is_read.to_numpy())]
    every = zip(*(rows.column(name).to_pylist() for name in COLUMNS), strict=True)
    found = Counter(every) if weights is None else _weighed(every, weights.tolist())
    if not all(_are_terms(rows.column(column), column) for column in COLUMNS):
        _check(found)
    return found


_IRI, _BLANK = '<[^<>"]*>', '_:[^<>"]+'
_LITERAL = r'"(?:.|\n)*"(?:@[^"<>]+|\^\^<[^<>"]*>)?'
_FORMS = {"s": f"{_IRI}|{_BLANK}", "p": _IRI, "o": f"{_IRI}|{_BLANK}|{_LITERAL}", "g": f"{_IRI}|{_BLANK}"}
"""What a term is where it stands; the default graph has no name."""


def _are_terms(values: pa.ChunkedArray, column: str) -> bool:
    is_missing = column != "g" and values.null_count > 0
    return not is_missing and pc.all(pc.match_substring_regex(values, f"^(?:{_FORMS[column]})$")).as_py() is not False


def _check(found: Mapping[QuadRow, int]) -> None:
    """Raise Refused for a quad with a value that is no term; what is both inserted and deleted is not looked at."""
    for quad in found:
        for column, value in zip(COLUMNS, quad, strict=True):
            if not (column == "g" and value is None) and (value is None or re.fullmatch(_FORMS[column], value) is None):
                raise Refused(Reason.MALFORMED_TERM, f"{value!r} in the column {column}")


def _weighed(rows: Iterable[QuadRow], weights: Iterable[int]) -> dict[QuadRow, int]:
    found: dict[QuadRow, int] = {}
    for row, weight in zip(rows, weights, strict=True):
        found[row] = found.get(row, 0) + weight
    return {row: weight for row, weight in found.items() if weight}
