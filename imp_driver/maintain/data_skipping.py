"""What Delta skips by a query's own conditions: a sketch that adds nothing to that costs more than it saves.

An estimate from file statistics, by the same evaluation that decides about groups, with the columns of a file between their bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from imp_driver.dataflow.bounds.condition import evaluate
from imp_driver.dataflow.bounds.interval import Interval, from_codes, unknown
from imp_driver.maintain.request import Request
from imp_driver.plan.nodes import Scan
from imp_driver.safety.cuts import Cut
from imp_driver.safety.partial import name_in
from imp_driver.values.codes import BooleanArray, Codec, is_orderable
from imp_driver.values.expressions import Column, Expression, KeyReference, Opaque, parts_of, with_parts
from imp_driver.values.tables import FileStatistics


@dataclass(slots=True)
class _Files:
    """The columns of a table's files as keys of groups, one group a file."""

    files: FileStatistics
    types: Mapping[str, pa.DataType | None]
    names: Mapping[str, str]
    used: list[str] = field(default_factory=list)

    def key_interval(self, index: int) -> Interval:
        name = self.used[index]
        kind = self.types.get(name)
        if kind is None or not is_orderable(kind):
            return unknown(len(self.files.sizes))
        lower, upper, nulls = self.files.bounds(self.names[name])
        try:
            (low, no_low), (high, no_high) = (Codec(kind).encode(bound.cast(kind)) for bound in (lower, upper))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return unknown(len(self.files.sizes))
        if np.any(no_low | no_high):
            return unknown(len(self.files.sizes))
        return replace(
            from_codes(kind, low, no_low), upper=from_codes(kind, high, no_high).upper, may_be_null=nulls != 0, may_be_value=~no_low
        )

    def aggregate_interval(self, index: int) -> Interval:
        return unknown(len(self.files.sizes))

    def over_keys(self, expression: Expression) -> Expression:
        """Return a condition with the table's columns as keys and everything else as unknown."""
        match expression:
            case Column(name) if name in self.names:
                if name not in self.used:
                    self.used.append(name)
                return KeyReference(self.used.index(name))
            case Column(name):
                return Opaque(name)
            case _:
                return with_parts(expression, tuple(map(self.over_keys, parts_of(expression))))


def kept_by_conditions(
    files: FileStatistics, where: Expression | None, types: Mapping[str, pa.DataType | None], names: Mapping[str, str]
) -> BooleanArray:
    """Return which files may hold a row that meets a condition.

    Args:
        types: of the columns of the condition.
        names: the table's own name of each of its columns in the condition.
    """
    size = len(files.sizes)
    if where is None:
        return np.ones(size, dtype=bool)
    table = _Files(files, types, names)
    return np.asarray(evaluate(table.over_keys(where), table).broadcast(size).may_be_true, dtype=bool)


def own_share(request: Request, scan: Scan) -> float:
    """Return the share of a table's bytes that are left by the query's own conditions on its rows."""
    files = request.snapshots[scan.table].files
    names = {name_in(request.analysis.plan, Cut(scan, attribute)): attribute.name for attribute in scan.output}
    kept = kept_by_conditions(files, request.block.where, request.analysis.columns, names)
    return float(files.sizes[kept].sum() / max(1, files.sizes.sum()))
