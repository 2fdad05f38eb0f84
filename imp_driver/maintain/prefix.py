"""One state for templates with a common plan prefix: the same groups of the same rows, whatever aggregates each asks for (paper 5.2).

A block is served by any state of its prefix that has its aggregates, among others; a new state takes the place of those that it can serve.
A capture does not take up aggregates for the sake of others: it would cost more than it saves, since maintenance is cheap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from imp_driver.maintain.request import Request
from imp_driver.plan.bind import BoundBlock
from imp_driver.state.maintained import Maintained
from imp_driver.values.aggregates import OrderKey
from imp_driver.values.expressions import AggregateReference, Expression, parts_of, with_parts


def forms(request: Request, relations: Iterable[Maintained]) -> tuple[Request, ...]:
    """Return the request about the aggregates of every one of these relations of its prefix that has its own, then the request itself."""
    every = {relation.block.aggregates: relation.block for relation in relations if relation.is_held and relation.block is not None}
    every.pop(request.block.aggregates, None)
    holding = [block for aggregates, block in every.items() if set(request.block.aggregates) <= set(aggregates)]
    return (*(_over(request, block) for block in holding), request)


def replaced_by(relation: Maintained, relations: Iterable[Maintained]) -> list[Maintained]:
    """Return those of the relations of its prefix whose blocks a newly captured one serves."""
    block = relation.block
    assert block is not None
    return [
        other
        for other in relations
        if other is not relation
        and not other.is_named
        and other.block is not None
        and other.block.where_sql == block.where_sql
        and set(other.block.aggregates) < set(block.aggregates)
    ]


def _over(request: Request, wide: BoundBlock) -> Request:
    lifted = None if request.lifted is None else _block_over(request.lifted, wide)
    return replace(request, block=_block_over(request.block, wide), lifted=lifted)


def _block_over(block: BoundBlock, wide: BoundBlock) -> BoundBlock:
    """Return a block that says the same over the aggregates of another one, which has its own among them."""
    places = {place: wide.aggregates.index(aggregate) for place, aggregate in enumerate(block.aggregates)}
    return replace(
        block,
        aggregates=wide.aggregates,
        having=tuple(_renumbered(each, places) for each in block.having),
        outputs=tuple(_renumbered(each, places) for each in block.outputs),
        order=tuple(OrderKey(_renumbered(key.expression, places), key.descending, key.nulls_first) for key in block.order),
        columns=tuple(dict.fromkeys((*block.columns, *wide.columns))),
    )


def _renumbered(expression: Expression, places: Mapping[int, int]) -> Expression:
    if isinstance(expression, AggregateReference):
        return AggregateReference(places[expression.index])
    return with_parts(expression, [_renumbered(each, places) for each in parts_of(expression)])
