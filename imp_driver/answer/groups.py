"""Groups of a relation -> rows of the aggregation that they are of, for the query that asks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from imp_driver.answer.regroup import of_no_rows
from imp_driver.answer.rounding import with_spreads
from imp_driver.dataflow.expression.select import select
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.nodes import Aggregate
from imp_driver.reasons import Reason
from imp_driver.state.group_columns import ReadGroups
from imp_driver.values.expressions import AggregateReference, And, Column, Expression, KeyReference, parts_of, with_parts
from imp_driver.values.refusal import Refused


def check_maintained(block: BoundBlock) -> None:
    """Raise Refused where an aggregate that is asked for is not maintained."""
    for output in block.outputs:
        if not isinstance(output, AggregateReference):
            raise Refused(Reason.UNSUPPORTED_AGGREGATE, getattr(output, "text", ""))


def rows_of(state: ReadGroups, block: BoundBlock, aggregate: Aggregate) -> pa.Table:
    """Return the rows of an aggregation, in columns named by its attributes.

    Conditions of the block on its keys were lifted from its rows: groups for which they are not TRUE are not asked for.

    Raises:
        Refused: a value of a group that is asked for is known between bounds only.
        NotEvaluable: a lifted condition is Spark's to decide.
        NotThere: whoever holds the relation is to make a column first.
    """
    slots = np.flatnonzero(state.alive)
    if block.having:
        keys = pa.table({f"key_{place}": state.key_values(place, slots) for place in range(len(block.keys))})
        slots = slots[select(keys, And(tuple(_over_columns(each) for each in block.having)))]
    outputs = [output.index for output in block.outputs if isinstance(output, AggregateReference)]
    values = {place: state.value_at(place, slots) for place in dict.fromkeys(outputs)}
    inexact = [block.aggregates[place] for place, each in values.items() if not each.exact.all()]
    if inexact:
        raise Refused(Reason.NOT_EXACT, ", ".join(f"{each.specification.kind.value} {each.argument_sql}" for each in inexact))
    columns = {attribute.identifier: state.key_values(place, slots) for place, attribute in enumerate(aggregate.key_attributes)}
    found = {attribute.identifier: values[place] for attribute, place in zip(aggregate.function_attributes, outputs, strict=True)}
    rows = pa.table(columns | {name: each.array for name, each in found.items()})
    if not aggregate.keys and not len(slots):
        return of_no_rows(rows.schema, [block.aggregates[place].specification for place in outputs])
    return with_spreads(rows, {name: each.spread for name, each in found.items() if each.spread is not None})


def _over_columns(expression: Expression) -> Expression:
    if isinstance(expression, KeyReference):
        return Column(f"key_{expression.index}")
    return with_parts(expression, [_over_columns(each) for each in parts_of(expression)])
