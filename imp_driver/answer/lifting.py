"""Lifting: columns whose conditions have other constants in each query become keys of the state, which then serves all of them.

The finer groups follow the query's block as any others do (answer/matching.py), so nothing here can make a row wrong, only a state large.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.conditional import conditional, without_condition
from imp_driver.answer.matching import is_opaque, text
from imp_driver.maintain.identity import source_of
from imp_driver.maintain.request import Request
from imp_driver.plan.aggregate import BoundAggregate
from imp_driver.plan.bind import BoundBlock, all_groups, with_rows
from imp_driver.plan.convert import row_expression
from imp_driver.values.aggregates import PARTS
from imp_driver.values.codes import is_orderable
from imp_driver.values.expressions import AggregateReference, Column

MOST_COLUMNS = 6
MOST_GROUPS = 5_000_000
FEW_GROUPS = 200_000
MOST_SHARE = 0.5
"""Of the rows; with as many groups as that a state is as large as the table, and no quicker."""
MEMORY_SHARE = 4
"""A state that no query waits for gets this part of the memory of all, at most."""
_LOOK_UP_BYTES = 12
_NUMBER_BYTES = 8


@dataclass(frozen=True, slots=True, eq=False)
class Lifted:
    """``columns`` are those of the conditions, which are keys now."""

    request: Request
    columns: tuple[str, ...]


def conditions_of(block: BoundBlock) -> tuple[exp.Expr, ...]:
    """Return the conditions whose constants may change: those on the rows, then those within aggregates, in their order."""
    return (*block.where_nodes, *(found.condition for found in map(conditional, block.aggregates) if found is not None))


def shape_of(request: Request) -> str:
    """Return what blocks have in common that differ in constants alone."""
    block = request.block
    where = [_blank(node) for node in block.where_nodes]
    aggregates = [f"{each.specification.kind.name}({_blank(each.argument_node)})" for each in block.aggregates]
    return "\n".join((source_of(request), *block.keys_sql, "", *where, "", *aggregates))


def _blank(node: exp.Expr | None) -> str:
    """Return an expression with the same text for all constants, and for lists of every length."""

    def blank(each: exp.Expr) -> exp.Expr:
        if isinstance(each, exp.In) and all(isinstance(item, exp.Literal) for item in each.expressions):
            each.set("expressions", [exp.Placeholder()])
        return exp.Placeholder() if isinstance(each, exp.Literal) else each

    return "" if node is None else text(node.transform(blank))


def with_lifted(request: Request, places: Collection[int]) -> Lifted | None:
    """Return the request about the state in which the columns of some conditions are keys, by their places in ``conditions_of``.

    None where one of the conditions cannot be decided over keys, or there are too many columns.
    """
    block, types = request.block, request.analysis.columns
    nodes = [node for place, node in enumerate(conditions_of(block)) if place in places]
    names = [name for node in nodes for name in _columns_of(node)]
    if not nodes or any(is_opaque(row_expression(node, types)) for node in nodes) or not _may_be_keys(names, types):
        return None
    known = {key.name for key in block.keys if isinstance(key, Column)}
    added = tuple(dict.fromkeys(name for name in names if name not in known))
    aggregates = _unconditional(block, {text(node) for node in nodes}, types)
    if len(added) > MOST_COLUMNS or aggregates is None:
        return None
    wide = _over(block, nodes, added, types)
    outputs = tuple(map(AggregateReference, range(len(aggregates))))
    wide = replace(wide, aggregates=aggregates, outputs=outputs)
    return Lifted(replace(request, block=wide, lifted=None), tuple(dict.fromkeys(names)))


def _unconditional(
    block: BoundBlock, conditions: Collection[str], types: Mapping[str, pa.DataType | None]
) -> tuple[BoundAggregate, ...] | None:
    """Return the aggregates without these conditions, each once; None where one of them is not maintained without."""
    found: list[BoundAggregate] = []
    for each in block.aggregates:
        own = conditional(each)
        if own is not None and text(own.condition) in conditions:
            if not _columns_of(own.value):
                # A constant counts as often as the groups have rows.
                continue
            without = without_condition(each, own, types)
            if without is None:
                return None
            each = without
        if each not in found:
            found.append(each)
    return tuple(found)


def _columns_of(node: exp.Expr) -> list[str]:
    return [column.name for column in node.find_all(exp.Column)]


def _may_be_keys(names: Sequence[str], types: Mapping[str, pa.DataType | None]) -> bool:
    kinds = [types.get(name) for name in names]
    return all(kind is not None and is_orderable(kind) and not pa.types.is_floating(kind) for kind in kinds)


def _over(block: BoundBlock, nodes: Sequence[exp.Expr], added: Sequence[str], types: Mapping[str, pa.DataType | None]) -> BoundBlock:
    """Return a block with more keys, without the conditions that these and the other keys decide."""
    columns = {column.name: column for node in nodes for column in node.find_all(exp.Column)}
    # A constant key stands for no GROUP BY, and is not needed beside others.
    keys = [node for node in block.key_nodes if _columns_of(node)] + [columns[name].copy() for name in added]
    plain = {node.name for node in keys if isinstance(node, exp.Column)}

    def is_decided(node: exp.Expr) -> bool:
        names = _columns_of(node)
        return bool(names) and set(names) <= plain and _may_be_keys(names, types) and not is_opaque(row_expression(node, types))

    wide = replace(
        all_groups(block),
        key_nodes=tuple(keys),
        keys_sql=tuple(map(text, keys)),
        keys=tuple(row_expression(node, types) for node in keys),
        columns=tuple(dict.fromkeys((*block.columns, *added))),
    )
    return with_rows(wide, tuple(node for node in block.where_nodes if not is_decided(node)), types)


def bytes_of(block: BoundBlock, groups: int) -> int:
    """Estimate what a state of so many groups takes."""
    parts = sum(max(1, len(PARTS[each.specification.kind])) for each in block.aggregates)
    return groups * (_LOOK_UP_BYTES + _NUMBER_BYTES * (1 + len(block.keys) + 2 * parts))


def why_too_large(block: BoundBlock, groups: int, rows: int, memory: int) -> str:
    """Say why a state of so many groups of so many rows is not worth its size; empty where it is."""
    size = bytes_of(block, groups)
    if groups > MOST_GROUPS or (groups > FEW_GROUPS and groups > MOST_SHARE * rows):
        return f"some {groups:,} groups of {rows:,} rows"
    if size > memory // MEMORY_SHARE:
        return f"some {groups:,} groups of {size >> 20} MB; memory of {(size * MEMORY_SHARE) >> 20} MB would do"
    return ""
