"""Rows of a graph's table as quads: the query that loads those that patterns can match, and what Arrow has of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.mappings.circuit import QuadRow
from imp_driver.sparql.graph_table import COLUMNS
from imp_driver.sparql.terms import Term
from imp_driver.values.quoting import quoted_name, quoted_text

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


def quads(rows: pa.Table, wanted: Wanted, weights: npt.NDArray[np.int64] | None = None) -> Mapping[QuadRow, int]:
    """Return the rows that can matter, each with how often it is there; with ``weights``, how many more there are."""
    predicates = {predicate for _, predicate, _ in wanted}
    if None not in predicates:
        is_read = pc.is_in(rows.column("p"), value_set=pa.array(sorted(filter(None, predicates)), pa.string()))
        rows = rows.filter(is_read)
        weights = None if weights is None else weights[np.asarray(is_read.to_numpy())]
    every = zip(*(rows.column(name).to_pylist() for name in COLUMNS), strict=True)
    return Counter(every) if weights is None else _weighed(every, weights.tolist())


def _weighed(rows: Iterable[QuadRow], weights: Iterable[int]) -> Mapping[QuadRow, int]:
    found: dict[QuadRow, int] = {}
    for row, weight in zip(rows, weights, strict=True):
        found[row] = found.get(row, 0) + weight
    return {row: weight for row, weight in found.items() if weight}
