"""Plan -> blocks of rows: what stands below no groups that could be cut, such as a join or a filtered table.

Their state is the rows per fragment alone: one group of all rows, under a constant key. The calculus asks no more of a row than that it
is there, unchanged, whenever its fragment is (sketch-safety rules 1.3); pinned like any block, it is the same bag with and without the cut.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from imp_driver.plan.below import Below, unfold
from imp_driver.plan.blocks import Block, QueryBlock
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.linear import is_linear
from imp_driver.plan.nodes import Filter, Join, Plan, Project, Scalar, Scan, SemiJoin, children, scans


def row_blocks(plan: Plan) -> tuple[Block, ...]:
    """Return the largest parts of a plan whose rows come from rows of a table one by one, and which leave some out."""
    return tuple(_row_blocks(plan))


def _row_blocks(plan: Plan) -> Iterator[Block]:
    below = unfold(plan) if isinstance(plan, (Filter, Project, Join, SemiJoin)) else None
    if below is not None and _drops_rows(below) and not free_identifiers(plan):
        query = QueryBlock(below.source, (exp.true(),), below.where, (), (), None, None)
        yield Block(query, plan, of_rows=True)
        return
    for child in children(plan):
        yield from _row_blocks(child)


def _drops_rows(below: Below) -> bool:
    """Say whether a table's rows reach the source one by one, and not all of them."""
    inner = below.source
    while isinstance(inner, Scalar):
        inner = inner.child
    if isinstance(inner, Scan):
        return bool(below.where)
    return isinstance(inner, (Join, SemiJoin)) and any(is_linear(inner, scan.occurrence) for scan in scans(inner))
