"""Lifting: columns whose conditions have other constants in each query become keys of the state, which then serves all of them.

The finer groups follow the query's block as any others do (answer/matching.py), so nothing here can make a row wrong, only a state large.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp, parse_one

from imp_driver.answer.conditional import conditional, without_condition
from imp_driver.answer.granule import CHAIN, finest, grain
from imp_driver.answer.guarded import guarded
from imp_driver.answer.keys import Keys, Texts, is_sparks, text
from imp_driver.maintain.identity import source_of
from imp_driver.maintain.request import Request
from imp_driver.parse.dialect import TruncatedInZone
from imp_driver.parse.statement import DIALECT
from imp_driver.plan.aggregate import BoundAggregate
from imp_driver.plan.bind import BoundBlock, all_groups, with_rows
from imp_driver.plan.conjunctive import may_be_left_out
from imp_driver.plan.convert import row_expression
from imp_driver.plan.zones import instant, local
from imp_driver.state.constants import Grains
from imp_driver.values.aggregates import PARTS
from imp_driver.values.codes import is_orderable
from imp_driver.values.expressions import AggregateReference, Column
from imp_driver.values.types import INSTANT, LOCAL
from imp_driver.values.zones import UTC, is_whole

MOST_COLUMNS = 6
MOST_GROUPS = 5_000_000
FEW_GROUPS = 200_000
SMALL_SHARE = 0.1
"""Of the rows of tables, up to which more than a few different rows without groups are kept."""
SMALL_MEMORY_SHARE = 8
"""Different rows that take at most this part of the memory of all are kept, whatever share of all rows they are."""
MEMORY_SHARE = 4
"""A state that no query waits for gets this part of the memory of all, at most."""
_LOOK_UP_BYTES = 12
_NUMBER_BYTES = 8


@dataclass(frozen=True, slots=True, eq=False)
class Lifted:
    """``columns`` are those of the conditions, for people; they, or their granules, are keys now."""

    request: Request
    columns: tuple[str, ...]


def changing_of(block: BoundBlock) -> tuple[exp.Expr, ...]:
    """Return what may have other constants: the conditions on the rows, those within aggregates, other arguments, and keys."""
    return (*_conditions_of(block), *_values_of(block))


def _conditions_of(block: BoundBlock) -> tuple[exp.Expr, ...]:
    return (*block.where_nodes, *(found.condition for found in map(conditional, block.aggregates) if found is not None))


def _values_of(block: BoundBlock) -> tuple[exp.Expr, ...]:
    """Return expressions with constants whose values are grouped or aggregated."""
    arguments = (each.argument_node for each in block.aggregates if conditional(each) is None)
    return tuple(node for node in (*arguments, *block.key_nodes) if node is not None and _columns_of(node) and node.find(exp.Literal))


def shape_of(request: Request) -> str:
    """Return what blocks have in common that differ in constants alone."""
    block = request.block
    where = [_blank(node) for node in block.where_nodes]
    aggregates = [f"{each.specification.kind.name}({_blank(each.argument_node)})" for each in block.aggregates]
    return "\n".join((source_of(request), *map(_blank, block.key_nodes), "", *where, "", *aggregates))


def _blank(node: exp.Expr | None) -> str:
    """Return an expression with the same text for all constants, and for lists of every length."""

    def blank(each: exp.Expr) -> exp.Expr:
        if isinstance(each, exp.In) and all(isinstance(item, exp.Literal) for item in each.expressions):
            each.set("expressions", [exp.Placeholder()])
        return exp.Placeholder() if isinstance(each, exp.Literal) else each

    return "" if node is None else text(node.transform(blank))


def grains_of(request: Request) -> tuple[Grains, ...]:
    """Return of each of ``changing_of`` the granules of dates and times that it leaves whole; values are not compared, so none."""
    types = request.analysis.columns
    zone = request.zone
    # Where units are not whole in the zone, or its rules are not known, an instant has none; date_trunc makes one of any time.
    kinds = (pa.date32(), *((LOCAL, INSTANT) if zone == UTC else (INSTANT,) if is_whole(zone) else ()))

    def of(node: exp.Expr) -> Grains:
        condition = row_expression(node, types)
        return {
            name: grain(condition, name, kind, "" if zone == UTC else zone)
            for name in _columns_of(node)
            if (kind := types.get(name)) in kinds and kind is not None
        }

    return (*map(of, _conditions_of(request.block)), *({} for _ in _values_of(request.block)))


def with_lifted(request: Request, places: Collection[int], grains: Grains) -> Lifted | None:
    """Return the request about the state in which the columns of what changes are keys, by the places in ``changing_of``.

    None where one of these cannot be computed over keys, or there are too many columns.

    Args:
        grains: of the columns whose granules are keys in their place.
    """
    types = request.analysis.columns
    nodes = [node for place, node in enumerate(changing_of(request.block)) if place in places]
    changing = {text(node) for node in nodes}
    block = _without_keys(request.block, changing)
    whole = {name for node in _values_of(request.block) if text(node) in changing for name in _columns_of(node)}
    grains = {name: unit for name, unit in grains.items() if name not in whole}
    own = Keys(block, types, Texts())
    names = [name for node in nodes for name in _columns_of(node)]
    # What keys that are expressions decide needs none of their columns.
    lacking = [name for node in nodes if own.over(node) is None for name in _columns_of(node)]
    if not nodes or any(is_sparks(row_expression(node, types), types) for node in nodes) or not _may_be_keys(names, types):
        return None
    known = {key.name for key in block.keys if isinstance(key, Column)}
    added = tuple(dict.fromkeys(name for name in lacking if name not in known))
    aggregates = _unconditional(block, changing, types, raises=request.is_ansi)
    if len(added) > MOST_COLUMNS or aggregates is None:
        return None
    wide = _over(block, [_key(nodes, name, grains, types[name], request.zone) for name in added], added, types)
    if not changing.isdisjoint(map(text, wide.where_nodes)):
        # The next constants would need another such state.
        return None
    outputs = tuple(map(AggregateReference, range(len(aggregates))))
    wide = replace(wide, aggregates=aggregates, outputs=outputs)
    columns = [told(name, grains if name in added else {}, types[name]) for name in names]
    return Lifted(replace(request, block=wide, lifted=None), tuple(dict.fromkeys(columns)))


def _without_keys(block: BoundBlock, changing: Collection[str]) -> BoundBlock:
    """Return a block without the keys that are expressions with changing constants: they follow from their columns."""
    kept = [place for place, node in enumerate(block.key_nodes) if text(node) not in changing]
    return replace(
        block,
        key_nodes=tuple(block.key_nodes[place] for place in kept),
        keys_sql=tuple(block.keys_sql[place] for place in kept),
        keys=tuple(block.keys[place] for place in kept),
    )


def told(name: str, grains: Grains, kind: pa.DataType | None) -> str:
    """Return what is a key for a column, for people."""
    unit, known_as = _unit(name, grains, kind), name.partition("#")[0]
    return f"{known_as} by {unit}" if unit else known_as


def _unit(name: str, grains: Grains, kind: pa.DataType | None) -> str:
    """Return the unit of the granule that stands for a column; empty for the column itself."""
    return CHAIN[grains[name]] if name in grains and kind is not None and grains[name] < finest(kind) else ""


def _key(nodes: Sequence[exp.Expr], name: str, grains: Grains, kind: pa.DataType | None, zone: str) -> exp.Expr:
    column = next(column for node in nodes for column in node.find_all(exp.Column) if column.name == name).copy()
    unit = _unit(name, grains, kind)
    if not unit:
        return column
    if kind == pa.date32():
        return parse_one(f"trunc({text(column)}, '{unit}')", dialect=DIALECT)
    if kind == LOCAL:
        return exp.TimestampTrunc(this=column, unit=exp.var(unit.upper()))
    if zone != UTC:
        return TruncatedInZone(this=column, unit=exp.var(unit.upper()), zone=exp.Literal.string(zone))
    return instant(exp.TimestampTrunc(this=local(column), unit=exp.var(unit.upper())))


def _unconditional(
    block: BoundBlock, conditions: Collection[str], types: Mapping[str, pa.DataType | None], *, raises: bool
) -> tuple[BoundAggregate, ...] | None:
    """Return the aggregates without these conditions, each once; None where one of them is not maintained without.

    Where a division by 0 ``raises`` an error, and is not NULL, rows of one are left out and counted.

    One whose whole argument changes follows from the keys.
    """
    found: list[BoundAggregate] = []
    for each in block.aggregates:
        if each.argument_node is not None and text(each.argument_node) in conditions:
            continue
        own = conditional(each)
        if own is not None and text(own.condition) in conditions:
            if not _columns_of(own.value):
                # A constant counts as often as the groups have rows.
                continue
            without = without_condition(each, own, types)
            if without is None:
                return None
            each = without
        found += [own for own in (guarded(each, types) if raises else (each,)) if own not in found]
    return tuple(found)


def _columns_of(node: exp.Expr) -> list[str]:
    return [column.name for column in node.find_all(exp.Column)]


def _may_be_keys(names: Sequence[str], types: Mapping[str, pa.DataType | None]) -> bool:
    kinds = [types.get(name) for name in names]
    return all(kind is not None and is_orderable(kind) and not pa.types.is_floating(kind) for kind in kinds)


def _over(block: BoundBlock, more: Sequence[exp.Expr], added: Sequence[str], types: Mapping[str, pa.DataType | None]) -> BoundBlock:
    """Return a block with more keys, over columns that are added, without the conditions that these and the other keys decide."""
    # A constant key stands for no GROUP BY, and is not needed beside others.
    keys = [node for node in block.key_nodes if _columns_of(node)] + list(more)
    wide = replace(
        all_groups(block),
        key_nodes=tuple(keys),
        keys_sql=tuple(map(text, keys)),
        keys=tuple(row_expression(node, types) for node in keys),
        columns=tuple(dict.fromkeys((*block.columns, *added))),
    )
    over = Keys(wide, types, Texts())

    def is_decided(node: exp.Expr) -> bool:
        names = _columns_of(node)
        may_go = may_be_left_out(block.source, block.where_nodes, node)
        return bool(names) and may_go and _may_be_keys(names, types) and over.over(node) is not None

    return with_rows(wide, tuple(node for node in block.where_nodes if not is_decided(node)), types)


def bytes_of(block: BoundBlock, groups: int) -> int:
    """Estimate what a state of so many groups takes."""
    parts = sum(max(1, len(PARTS[each.specification.kind])) for each in block.aggregates)
    return groups * (_LOOK_UP_BYTES + _NUMBER_BYTES * (1 + len(block.keys) + parts))


def why_too_large(request: Request, groups: int, rows: int, memory: int) -> str:
    """Say why a state of so many groups of so many rows is not worth its size; empty where it is."""
    if groups > MOST_GROUPS:
        return f"some {groups:,} groups of {rows:,} rows"
    return _why_too_heavy(request.block, groups, memory)


def why_too_many(request: Request, groups: int, rows: int, memory: int) -> str:
    """Say why so many different rows are too many against all rows of the tables that they come from; empty where they are few."""
    is_large = bytes_of(request.block, groups) > memory // SMALL_MEMORY_SHARE
    if groups > MOST_GROUPS or (is_large and groups > max(FEW_GROUPS, SMALL_SHARE * request.rows)):
        return f"some {groups:,} different ones of {request.rows:,}"
    return _why_too_heavy(request.block, groups, memory)


def _why_too_heavy(block: BoundBlock, groups: int, memory: int) -> str:
    size = bytes_of(block, groups)
    if size <= memory // MEMORY_SHARE:
        return ""
    return f"some {groups:,} groups of {size >> 20} MB; memory of {(size * MEMORY_SHARE) >> 20} MB would do"
