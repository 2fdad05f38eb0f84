"""CASE and COALESCE over columns that are computed already: which value a row takes, in the type that Spark brings all of them to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.dataflow.expression.arithmetic import NotEvaluable, to_double
from imp_driver.values.codes import IntegerArray
from imp_driver.values.widening import common_type


def cased(conditions: Sequence[pa.Array], values: Sequence[pa.Array], default: pa.Array | None) -> pa.Array:
    """Return for each row the value of the first condition that is TRUE, else the default, else NULL. Raises NotEvaluable."""
    count = len(conditions[0])
    *branches, otherwise = _alike([*values, pa.nulls(count) if default is None else default])
    chosen = pa.StructArray.from_arrays(
        [condition.fill_null(False) for condition in conditions], names=[str(place) for place in range(len(conditions))]
    )
    return pc.case_when(chosen, *branches, otherwise)


def placed(pieces: Sequence[tuple[IntegerArray, pa.Array]]) -> pa.Array:
    """Return the values of pieces at their places, of which each is in one piece. Raises NotEvaluable."""
    arrays = _alike([values for _, values in pieces])
    places, found = np.concatenate([places for places, _ in pieces]), pa.concat_arrays(arrays)
    return found if np.all(places[1:] > places[:-1]) else found.take(pa.array(np.argsort(places, kind="stable")))


def coalesced(values: Sequence[pa.Array]) -> pa.Array:
    """Return the first value of each row that is not NULL. Raises NotEvaluable."""
    return pc.coalesce(*_alike(values))


def _alike(arrays: Sequence[pa.Array]) -> list[pa.Array]:
    kind = common_type([array.type for array in arrays])
    if kind is None:
        raise NotEvaluable(
            f"values of the types {', '.join(sorted({str(array.type) for array in arrays}))} in one column need a cast of Spark's"
        )
    return [_as(array, kind) for array in arrays]


def _as(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_float64(kind) and not pa.types.is_null(array.type):
        return to_double(array)
    try:
        return array.cast(kind)
    except pa.ArrowInvalid as error:
        raise NotEvaluable(f"a value of type {array.type} does not fit {kind}") from error
