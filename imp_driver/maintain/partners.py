"""What the other tables of a join may be narrowed to for one change: the keys of the changed rows, as few ranges (IMP paper section 6.2).

A row of another table that equals no changed row in a column that the join equates can be no partner of one. Spark then skips the files
without such keys, where the table is clustered by them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from imp_driver.parse.bounds import bound_sql
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.conjunctive import equalities_of, joined_scans
from imp_driver.plan.nodes import Attribute, Scan
from imp_driver.plan.render import quoted
from imp_driver.values.codes import Codec, one_array
from imp_driver.values.types import arrow_type

MOST_RUNS = 20
"""Ranges of keys in one condition: more than some fifty make Spark's generated code slow."""


def partner_conditions(block: BoundBlock, changed: Scan, rows: pa.Table) -> Mapping[int, str]:
    """Return a condition for each other occurrence, by its number, that all partners of the changed rows meet; none where none is known.

    Args:
        rows: changed rows of the table, by the names of its columns.
    """
    every = joined_scans(block.source)
    if every is None:
        return {}
    owners = {attribute.identifier: (scan, attribute) for scan in every for attribute in scan.output}
    found: dict[int, list[str]] = {}
    for attribute in changed.output:
        if attribute.name not in rows.column_names:
            continue
        for other in _equal_to(attribute.identifier, equalities_of(block.where_nodes)):
            scan, partner = owners[other]
            if scan.occurrence != changed.occurrence and partner.type_name == attribute.type_name:
                text = _condition(partner, rows.column(attribute.name))
                found.setdefault(scan.occurrence, []).extend([] if text is None else [text])
    return {occurrence: " AND ".join(texts) for occurrence, texts in found.items() if texts}


def _equal_to(identifier: str, equalities: Sequence[tuple[str, str]]) -> set[str]:
    found = {identifier}
    while True:
        more = {other for one, other in equalities if one in found} - found
        if not more:
            return found - {identifier}
        found |= more


def _condition(partner: Attribute, values: pa.ChunkedArray) -> str | None:
    """Return the ranges that hold the values, of which NULL equals nothing; None for types whose literals Spark compares otherwise."""
    kind = arrow_type(partner.type_name or "")
    if kind is None or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return None
    distinct = pc.unique(one_array(values).cast(kind)).drop_null()
    if not len(distinct):
        return "(FALSE)"
    codec = Codec(kind)
    codes, _ = codec.encode(distinct)
    order = np.argsort(codes, kind="stable")
    ordered = distinct.take(pa.array(order)).to_pylist()
    column = quoted(partner.name)
    texts = []
    for first, last in _runs(codes[order]):
        low, high = (bound_sql(ordered[place], partner.type_name or "") for place in (first, last))
        texts.append(f"{column} = {low}" if first == last else f"({column} >= {low} AND {column} <= {high})")
    return f"({' OR '.join(texts)})"


def _runs(codes: np.ndarray[tuple[int], np.dtype[np.generic]]) -> list[tuple[int, int]]:
    """Split ascending codes into at most MOST_RUNS runs (first, last): at the widest gaps, or evenly where codes are objects."""
    count = len(codes)
    if count <= MOST_RUNS:
        starts = np.arange(count)
    elif codes.dtype == object:
        starts = np.linspace(0, count, MOST_RUNS, endpoint=False).astype(np.int64)
    else:
        gaps = np.diff(codes.astype(np.float64))
        starts = np.sort(np.concatenate(([0], np.argsort(-gaps, kind="stable")[: MOST_RUNS - 1] + 1)))
    ends = np.concatenate((starts[1:], [count])) - 1
    return list(zip(starts.tolist(), ends.tolist(), strict=True))
