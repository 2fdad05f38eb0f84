"""Groups of a relation -> rows of the aggregation that they are of, for the query that asks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from imp_driver.answer.regroup import of_no_rows
from imp_driver.answer.rounding import with_spreads
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.dataflow.expression.select import select
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.nodes import Aggregate
from imp_driver.reasons import Reason
from imp_driver.values.expressions import AggregateReference, And, Column, Expression, KeyReference, parts_of, with_parts
from imp_driver.values.refusal import Refused


def check_maintained(block: BoundBlock) -> None:
    """Raise Refused where an aggregate that is asked for is not maintained."""
    for output in block.outputs:
        if not isinstance(output, AggregateReference):
            raise Refused(Reason.UNSUPPORTED_AGGREGATE, getattr(output, "text", ""))


def rows_of(state: GroupState, block: BoundBlock, aggregate: Aggregate) -> pa.Table:
    """Return the rows of an aggregation, in columns named by its attributes.

    Conditions of the block on its keys were lifted from its rows: groups for which they are not TRUE are not asked for.

    Raises:
        Refused: a value of a group that is asked for is known between bounds only.
        NotEvaluable: a lifted condition is Spark's to decide.
    """
    slots = np.flatnonzero(state.alive)
    if block.having:
        keys = pa.table({f"key_{place}": state.key_values(place, slots) for place in range(len(block.keys))})
        slots = slots[select(keys, And(tuple(_over_columns(each) for each in block.having)))]
    found, values = state.rows_at(slots), state.values_at(slots)
    if found is None:
        inexact = (each for each, value in zip(block.aggregates, values, strict=True) if not value.exact.all())
        raise Refused(Reason.NOT_EXACT, ", ".join(f"{each.specification.kind.value} {each.argument_sql}" for each in inexact))
    names = {attribute.identifier: f"key_{place}" for place, attribute in enumerate(aggregate.key_attributes)}
    for attribute, output in zip(aggregate.function_attributes, block.outputs, strict=True):
        assert isinstance(output, AggregateReference)
        names[attribute.identifier] = f"aggregate_{output.index}"
    rows = pa.table([found.rows.column(name) for name in names.values()], names=list(names))
    outputs = [output.index for output in block.outputs if isinstance(output, AggregateReference)]
    if not aggregate.keys and not len(slots):
        return of_no_rows(rows.schema, [block.aggregates[place].specification for place in outputs])
    spreads = (
        (attribute.identifier, values[place].spread) for attribute, place in zip(aggregate.function_attributes, outputs, strict=True)
    )
    return with_spreads(rows, {name: spread for name, spread in spreads if spread is not None})


def _over_columns(expression: Expression) -> Expression:
    if isinstance(expression, KeyReference):
        return Column(f"key_{expression.index}")
    return with_parts(expression, [_over_columns(each) for each in parts_of(expression)])
