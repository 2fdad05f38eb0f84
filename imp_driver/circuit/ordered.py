"""Windows and first rows of a plan -> the operators that follow their changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa

from imp_driver.dataflow import groups
from imp_driver.dataflow.expression.refusal import NotEvaluable
from imp_driver.dataflow.operator import Operator
from imp_driver.dataflow.top import Top
from imp_driver.dataflow.window.function import result_type
from imp_driver.dataflow.window.whole import PartitionAggregate
from imp_driver.dataflow.windowed import Windowed
from imp_driver.dataflow.zset import empty
from imp_driver.plan.aggregate import bound_aggregate
from imp_driver.plan.attributes import plain_identifier, reference
from imp_driver.plan.convert import whole_number
from imp_driver.plan.grouping import text_of
from imp_driver.plan.nodes import Parsed, TopK, Window
from imp_driver.plan.window_functions import OverOrder, OverPartition, window_function
from imp_driver.values.refusal import Refused
from imp_driver.values.windows import UP_TO_PEERS, Number, OrderColumn, WindowFunction

Compute: TypeAlias = Callable[[Sequence[str], Sequence[Parsed]], Operator]
"""Names and expressions over an operator -> an operator that has them."""


def windowed(plan: Window, child: Operator, compute: Compute) -> Windowed:
    """Return the operator of windows over ``child``. Raises NotEvaluable."""
    own = {each.identifier: reference(each) for each in plan.child.output if each.identifier in child.schema.names}
    found = [_found(attribute.identifier, node) for attribute, node in zip(plan.added, plan.functions, strict=True)]
    columns: dict[str, Parsed] = dict(own)
    functions: list[WindowFunction | PartitionAggregate] = []
    parts: list[Mapping[str, str]] = []
    for attribute, each in zip(plan.added, found, strict=True):
        function, read = _function(attribute.identifier, each, child.schema)
        columns.update(read)
        functions.append(function)
        parts.append({text_of(node): name for node, name in zip(each.partition, function.partition, strict=True)})
    computed = compute(list(columns), list(columns.values()))
    kinds = dict(zip(computed.schema.names, computed.schema.types, strict=True))
    fields = [computed.schema.field(name) for name in own]
    for attribute, function in zip(plan.added, functions, strict=True):
        kind = result_type(function, kinds) if isinstance(function, WindowFunction) else groups.result_type(function.specification)
        fields.append(pa.field(attribute.identifier, kind))
    common = [text for text in parts[0] if all(text in each for each in parts)]
    plain = {plain_identifier(node) for node in found[0].partition if text_of(node) in common}
    operator = Windowed(
        computed,
        tuple(zip([attribute.identifier for attribute in plan.added], functions, strict=True)),
        tuple(parts[0][text] for text in common),
        frozenset(name for name in own if name in plain),
        pa.schema(fields),
    )
    operator.of(empty(computed.schema))
    return operator


def _found(name: str, node: Parsed) -> OverPartition | OverOrder:
    try:
        return window_function(name, node)  # type: ignore[arg-type]
    except Refused as refused:
        raise NotEvaluable(refused.detail) from refused


def _function(
    name: str, found: OverPartition | OverOrder, schema: pa.Schema
) -> tuple[WindowFunction | PartitionAggregate, Mapping[str, Parsed]]:
    """Return a function, and the columns that it reads."""
    if isinstance(found, OverOrder):
        return found.function, found.columns
    bound = bound_aggregate(found.aggregate, dict(zip(schema.names, schema.types, strict=True)))
    if bound is None:
        raise NotEvaluable(f"{found.aggregate.key} of a window")
    columns: dict[str, Parsed] = dict(found.columns)
    argument = None
    if bound[1] is not None:
        argument = f"{name} argument"
        columns[argument] = bound[1]
    return PartitionAggregate(tuple(found.columns), bound[0].specification, argument), columns


def top(plan: TopK, child: Operator, compute: Compute) -> Top:
    """Return the operator of the first rows of ``child``. Raises NotEvaluable."""
    own = {each.identifier: reference(each) for each in plan.child.output if each.identifier in child.schema.names}
    ordered = {f"order {place}": key.expression for place, key in enumerate(plan.order)}
    keys = tuple(OrderColumn(name, key.descending, key.nulls_first) for name, key in zip(ordered, plan.order, strict=True))
    computed = compute([*own, *ordered], [*own.values(), *ordered.values()])
    numbering = WindowFunction(Number.ROW_NUMBER, (), keys, UP_TO_PEERS)
    skipped = 0 if plan.offset is None else _number(plan.offset)
    operator = Top(computed, numbering, skipped, _number(plan.limit), pa.schema([computed.schema.field(name) for name in own]))
    operator.of(empty(computed.schema))
    return operator


def _number(node: Parsed) -> int:
    value = whole_number(node)
    if value is None or value < 0:
        raise NotEvaluable("LIMIT is not a whole number")
    return value
