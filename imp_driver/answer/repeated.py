"""The same query at the same versions once more: its rows are known for as long as the groups that they came from are at hand.

People look at one dashboard together, and look again. All that is left to do is to see that nothing has changed.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.shape import ShapedRows
from imp_driver.answer.summary import Groups
from imp_driver.maintain.at_hand import still_at_hand
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.request import snapshots_of
from imp_driver.parse.moment import NOW
from imp_driver.ports import ResultShape
from imp_driver.snapshot.reading import Reading
from imp_driver.snapshot.vector import Vector, vector_of
from imp_driver.values.execution import Parameters
from imp_driver.values.options import Options

MOST_BYTES = 1 << 16
"""Of the rows of one answer; with more of them the query is answered anew."""


@dataclass(frozen=True, slots=True, eq=False)
class Repeated:
    """The rows of a query at some versions, in its shape. ``parts`` are without rows, and their requests without snapshots."""

    vector: Vector
    rows: pa.Table
    shape: ResultShape
    parts: tuple[Groups, ...]


class Repeats:
    """The answers of one warehouse, found by the connections of a process for each other."""

    def __init__(self, relations: Relations, options: Options) -> None:
        self._relations = relations
        self._options = options

    def find(self, reading: Reading, parameters: Parameters) -> tuple[ShapedRows, tuple[Groups, ...]] | None:
        """Return the rows of a query and their groups, as they are now; None where they are to be made.

        Raises Refused: the guard has seen other rows of its template.
        """
        known = self._relations.repeats.get(self._name(reading, parameters)) if self._is_repeated(reading) else None
        if not isinstance(known, Repeated) or known.vector != _vector(reading):
            return None
        parts: list[Groups] = []
        for part in known.parts:
            request = replace(part.request, snapshots=snapshots_of(reading, part.request.analysis))
            self._relations.check_trusted(request.template.identifier)
            upkeep = still_at_hand(self._relations, request, part.relation)
            if upkeep is None:
                return None
            parts.append(replace(part, request=request, upkeep=upkeep))
        return ShapedRows(known.rows, known.shape), tuple(parts)

    def keep(self, reading: Reading, parameters: Parameters, rows: ShapedRows, shape: ResultShape, parts: Sequence[Groups]) -> None:
        """Keep the rows of an answer, where they are few."""
        are_own = all(part.request.snapshots.keys() <= reading.tables.keys() for part in parts)
        if not self._is_repeated(reading) or rows.rows.nbytes > MOST_BYTES or not are_own:
            return
        # The file statistics of old versions are large.
        kept = tuple(replace(each, request=replace(each.request, snapshots={}), rows=pa.table({})) for each in parts)
        self._relations.repeats[self._name(reading, parameters)] = Repeated(_vector(reading), rows.rows, shape, kept)

    def _is_repeated(self, reading: Reading) -> bool:
        """Say whether rows may be those of an earlier query: not where all are compared with Spark's, and never at another time."""
        return not self._options.is_compared and NOW not in reading.text.asked

    def _name(self, reading: Reading, parameters: Parameters) -> tuple[Hashable, ...]:
        given = reading.parameters(parameters) or ()
        values = given.items() if isinstance(given, Mapping) else enumerate(given)
        return (reading.text, reading.settings, self._options.floats, tuple((name, *_told_apart(value)) for name, value in values))


def _told_apart(value: object) -> tuple[object, ...]:
    # 1, 1.0 and True are equal, as are 0.0 and -0.0.
    if isinstance(value, exp.Literal):
        return exp.Literal, str(value.this), value.is_string
    return type(value), repr(value)


def _vector(reading: Reading) -> Vector:
    return vector_of(table.snapshot for table in reading.tables.values())
