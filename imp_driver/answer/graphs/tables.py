"""Tables that graphs are read from: those of triples themselves, and those whose rows a mapping makes triples of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from imp_driver.answer.graphs.mapped import types_of
from imp_driver.answer.graphs.quads import Wanted, load_text, quads
from imp_driver.dataflow.mappings.circuit import QuadRow
from imp_driver.reasons import Reason
from imp_driver.sparql.graph_table import COLUMNS
from imp_driver.sparql.mapping import TripleMap
from imp_driver.sparql.mapping_rows import NotAlike, columns_of, matching, triples
from imp_driver.values.quoting import qualified, quoted_name
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import TableSnapshot, at_version


@dataclass(frozen=True, slots=True, eq=False)
class GraphTable:
    """A table as a query reads it.

    Attributes:
        graph: the name that the query has for the graph.
        is_pinned: at a version that was asked for, which no newer one stands for.
        maps: the triples that each row makes; None where it is one itself.
    """

    graph: str
    name: tuple[str, ...]
    snapshot: TableSnapshot
    is_pinned: bool = False
    maps: tuple[TripleMap, ...] | None = None

    def columns(self, wanted: Wanted) -> tuple[str, ...] | None:
        """Return the columns that are read, None where nothing of the table is asked for. Raises Refused."""
        if self.maps is None:
            return COLUMNS if wanted else None
        maps = matching(self.maps, wanted)
        try:
            return columns_of(maps, types_of(self.snapshot)) if maps else None
        except NotAlike as error:
            raise self._refused(error) from error

    def load_text(self, wanted: Wanted) -> str:
        """Return the query of what is asked for of this version. Raises Refused."""
        relation = at_version(qualified(self.name), self.snapshot.version)
        if self.maps is None:
            return load_text(relation, wanted)
        columns = self.columns(wanted) or ()
        return f"SELECT {', '.join(map(quoted_name, columns)) or '1 AS `one row`'} FROM {relation}"

    def quads(self, rows: pa.Table, wanted: Wanted, weights: npt.NDArray[np.int64] | None = None) -> dict[QuadRow, int]:
        """Return what rows say, each quad with how often it is there; with ``weights``, how many more there are. Raises Refused."""
        if self.maps is None:
            return quads(rows, wanted, weights)
        count = rows.num_rows if weights is None else len(weights)
        signs = [1] * count if weights is None else weights.tolist()
        predicates = {predicate for _, predicate, _ in wanted}
        found: Counter[QuadRow] = Counter()
        try:
            values = {name: rows.column(name).to_pylist() for name in self.columns(wanted) or ()}
            for place, quad in triples(matching(self.maps, wanted), types_of(self.snapshot), values, count):
                if None in predicates or quad[1] in predicates:
                    found[quad] += signs[place]
        except (NotAlike, OverflowError, ValueError) as error:
            # Python has no dates beyond the year 9999.
            raise self._refused(error) from error
        return {quad: count for quad, count in found.items() if count}

    def _refused(self, error: Exception) -> Refused:
        return Refused(Reason.LEFT_TO_SPARK, f"triples of {'.'.join(self.name)} are not made here: {error}")
