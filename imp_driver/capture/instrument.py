"""Block -> SQL that returns its operator state, and SQL that projects signed rows onto its keys and arguments.

Source: IMP paper 6.1 and 5.2.5 (state of aggregation); sketch-safety rules 3.1 (capture at one table version). With an aligned
attribute the fragment of a group follows from its key, so the query needs no annotation: fragments are located in process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from imp_driver.capture.buckets import CutColumn
from imp_driver.plan.aggregate import BoundAggregate
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.nodes import Scan
from imp_driver.plan.render import RelationOf, Renderer, not_ordinal, quoted, read_identifiers
from imp_driver.values.aggregates import BUFFER_SIZE, PARTS, AccumulatorKind
from imp_driver.values.float_grids import LIMIT, split_sql
from imp_driver.values.quoting import qualified as _qualified
from imp_driver.values.tables import WEIGHT_COLUMN, at_version

qualified = _qualified
DERIVED_PARTS = frozenset({"nonfinite", "values", "copies"})
"""Parts that ``capture_sql`` does not select: they follow from others, or from the query of ``distinct_sql``."""
PARTS_OF_LARGE = frozenset({"sum", "small"})
"""Of sums of doubles that are rounded once: they follow from others where no double is large."""


def captured_parts(kind: AccumulatorKind, *, are_small: bool) -> list[str]:
    """Return the parts that ``capture_sql`` selects."""
    left_out = DERIVED_PARTS | PARTS_OF_LARGE if are_small and kind is AccumulatorKind.SUM_FLOAT_EXACT else DERIVED_PARTS
    return [part for part in PARTS[kind] if part not in left_out]


def at_versions(versions: Mapping[tuple[str, ...], int], tasks: int | None = None) -> RelationOf:
    """Return the relation of a scan at the version of its table, read by so many tasks at most; None for as many as there are."""
    hinted = "{}" if tasks is None else f"(SELECT /*+ COALESCE({tasks}) */ * FROM {{}})"
    return lambda scan: hinted.format(at_version(qualified(scan.table), versions[scan.table]))


def rows_sql(block: BoundBlock, relation: RelationOf, changed: int | None = None) -> str:
    """Return what stands in FROM for the block's source; with the weight of ``changed``, an occurrence that is read as signed rows."""
    if isinstance(block.source, Scan):
        return relation(block.source)
    wanted = read_identifiers(block.source) | frozenset(block.columns)
    return f"({Renderer(relation, wanted, changed).sql(block.source)})"


def capture_sql(block: BoundBlock, relation: RelationOf, *, deep_buffers: bool = True, are_small: bool = False) -> str:
    """Return the query of the state: one row per group with ``key_{i}``, ``row_count`` and ``aggregate_{i}_{part}``.

    Buffers of minima and maxima hold BUFFER_SIZE values when deep, else only the extremum itself, which costs Spark a quarter of the time.

    Args:
        are_small: doubles are below LIMIT, which their magnitudes then tell: without PARTS_OF_LARGE, each of which costs Spark a tenth.
    """
    items = [f"{key} AS key_{index}" for index, key in enumerate(block.keys_sql)]
    items.append("count(*) AS row_count")
    for index, aggregate in enumerate(block.aggregates):
        parts = captured_parts(aggregate.specification.kind, are_small=are_small)
        items += [f"{_part_sql(aggregate, part, deep_buffers, are_small)} AS aggregate_{index}_{part}" for part in parts]
    where = f" WHERE {block.where_sql}" if block.where_sql else ""
    groups = ", ".join(map(not_ordinal, block.key_nodes))
    return f"SELECT {', '.join(items)} FROM {rows_sql(block, relation)}{where} GROUP BY {groups}"


def size_sql(block: BoundBlock, relation: RelationOf) -> str:
    """Return the query of about how many groups there are, and of how many rows: ``groups``, ``row_count``."""
    where = f" WHERE {block.where_sql}" if block.where_sql else ""
    items = f"approx_count_distinct(struct({', '.join(block.keys_sql)})) AS `groups`, count(*) AS row_count"
    return f"SELECT {items} FROM {rows_sql(block, relation)}{where}"


def sample_sql(block: BoundBlock, relation: RelationOf, place: int, share: float) -> str:
    """Return the query of one key of about a share of the rows: ``value``."""
    conditions = [*([f"({block.where_sql})"] if block.where_sql else []), *([f"rand() < {share:.9f}"] if share < 1 else [])]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {block.keys_sql[place]} AS value FROM {rows_sql(block, relation)}{where}"


def first_sql(block: BoundBlock, relation: RelationOf, place: int, rows: int, *, descending: bool, nulls_first: bool) -> str:
    """Return the query of the value that the last of the first ``rows`` rows has by one key; it gives no row where there are fewer."""
    where = f" WHERE {block.where_sql}" if block.where_sql else ""
    order = f"value {'DESC' if descending else 'ASC'} NULLS {'FIRST' if nulls_first else 'LAST'}"
    return f"SELECT {block.keys_sql[place]} AS value FROM {rows_sql(block, relation)}{where} ORDER BY {order} LIMIT 1 OFFSET {rows - 1}"


def cells_sql(block: BoundBlock, relation: RelationOf, cut: CutColumn) -> str:
    """Return the query of rows per group and fragment of ``cut``: ``key_{i}``, ``cell_fragment``, ``cell_rows``.

    The columns of a block over several tables must name that of ``cut``.
    """
    inner, keys = _with_keys(block, relation, quoted(cut.name), "cell_value")
    located = cut.located_sql(inner, "cell_fragment", "cell_value")
    groups = ", ".join([*keys, "cell_fragment"])
    return f"SELECT {groups}, count(*) AS cell_rows FROM ({located}) GROUP BY {groups}"


def distinct_sql(block: BoundBlock, relation: RelationOf, argument: str) -> str:
    """Return the query of how often each argument occurs in each group: ``key_{i}``, ``value``, never NULL, and ``copies``."""
    inner, keys = _with_keys(block, relation, argument, "value")
    groups = ", ".join([*keys, "value"])
    return f"SELECT {groups}, count(*) AS copies FROM ({inner}) WHERE value IS NOT NULL GROUP BY {groups}"


def _with_keys(block: BoundBlock, relation: RelationOf, expression: str, name: str) -> tuple[str, list[str]]:
    """Return (query of the keys and one expression per row, names of the keys)."""
    keys = [f"key_{index}" for index in range(len(block.keys_sql))]
    items = [f"{sql} AS {each}" for sql, each in zip([*block.keys_sql, expression], [*keys, name], strict=True)]
    where = f" WHERE {block.where_sql}" if block.where_sql else ""
    return f"SELECT {', '.join(items)} FROM {rows_sql(block, relation)}{where}", keys


def _part_sql(aggregate: BoundAggregate, part: str, deep_buffers: bool, are_small: bool) -> str:
    argument = f"({aggregate.argument_sql})"
    kind = aggregate.specification.kind
    if part == "count":
        return f"count({argument})"
    if part == "true":
        return f"count_if({argument})"
    if part == "buffer":
        function = "min" if kind is AccumulatorKind.MINIMUM else "max"
        if not deep_buffers:
            return f"array_compact(array({function}({argument})))"
        # The k-ary form keeps only BUFFER_SIZE values per group, where a collected list would hold the whole column.
        return f"{function}_by({argument}, {argument}, {BUFFER_SIZE})"
    if part == "magnitude":
        return f"sum(abs(CAST({argument} AS DOUBLE)))"
    if kind is AccumulatorKind.VARIANCE:
        return _moment_sql(aggregate, part)
    if kind in (AccumulatorKind.SUM_DECIMAL, AccumulatorKind.SUM_WIDE_DECIMAL):
        scale = aggregate.specification.argument_type.scale  # type: ignore[union-attr]
        return f"CAST(sum({argument}) AS DECIMAL(38, {scale}))"
    if part in _OF_SMALL:
        return _of_small(f"CAST({argument} AS DOUBLE)", part, are_small=are_small)
    if kind in (AccumulatorKind.SUM_FLOAT, AccumulatorKind.SUM_FLOAT_EXACT):
        return f"sum(CAST({argument} AS DOUBLE))"
    return f"sum({argument})"


def _moment_sql(aggregate: BoundAggregate, part: str) -> str:
    """Return the exact sum of values, or of their squares; NULL where it overflows, which products of so many digits cannot."""
    number, kind = f"({aggregate.argument_sql})", aggregate.specification.argument_type
    if pa.types.is_integer(kind):
        number = f"CAST({number} AS DECIMAL(19, 0))"
    return f"try_sum({number})" if part == "sum" else f"try_sum({number} * {number})"


_SUMS_OF_SMALL = ("part_0", "part_1", "part_2", "part_3", "part_4", "rest")
_OF_SMALL = (*_SUMS_OF_SMALL, "small", "below")


def _of_small(value: str, part: str, *, are_small: bool) -> str:
    """Return the sum of one part of the doubles that are split, or their count; NaN is above every limit."""
    is_small = f"abs({value}) < {LIMIT!r}D"
    if part in _SUMS_OF_SMALL:
        split = split_sql(value)[_SUMS_OF_SMALL.index(part)]
        return f"sum({split})" if are_small else f"sum(CASE WHEN {is_small} THEN {split} END)"
    has_rest = f"{split_sql(value)[-1]} <> 0"
    if are_small:
        return f"count_if({has_rest})"
    return f"count_if({is_small if part == 'small' else f'{is_small} AND {has_rest}'})"


def projection_sql(block: BoundBlock, *relations: str, cuts: Sequence[CutColumn] = ()) -> str:
    """Return the query that selects and projects signed rows in Spark and consolidates them: keys, ``argument_{i}``, weight.

    Each relation yields the source's columns and WEIGHT_COLUMN. ``cuts``, columns of the source, add ``cell_fragment_{i}``.
    """
    names = [(f"key_{index}", sql) for index, sql in enumerate(block.keys_sql)]
    names += [(f"argument_{index}", each.argument_sql) for index, each in enumerate(block.aggregates) if each.argument_sql is not None]
    values = [(f"cell_value_{place}", quoted(cut.name)) for place, cut in enumerate(cuts)]
    items = ", ".join(f"{sql} AS {name}" for name, sql in [*names, *values])
    where = f" WHERE {block.where_sql}" if block.where_sql else ""
    rows = " UNION ALL ".join(f"SELECT {items}, {WEIGHT_COLUMN} FROM {relation} changes{where}" for relation in relations)
    for place, cut in enumerate(cuts):
        rows = cut.located_sql(rows, f"cell_fragment_{place}", f"cell_value_{place}")
    columns = ", ".join([*(name for name, _ in names), *(f"cell_fragment_{place}" for place in range(len(cuts)))])
    # Rows rewritten unchanged into another file cancel here, before they travel.
    return f"SELECT {columns}, sum({WEIGHT_COLUMN}) AS {WEIGHT_COLUMN} FROM ({rows}) GROUP BY {columns} HAVING sum({WEIGHT_COLUMN}) <> 0"
