"""Plan of a query -> the aggregations over tables whose groups are maintained, when all of its rows come from groups.

The lowest aggregations are taken, so that what stands above them, other aggregations included, is computed from their rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.plan.attributes import reference
from imp_driver.plan.below import unfold
from imp_driver.plan.blocks import Block, QueryBlock
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.nodes import Aggregate, Distinct, Plan, Scan, children, every, scans
from imp_driver.plan.rebuild import with_inputs
from imp_driver.plan.recursion import is_of_recursion
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """``aggregate`` is an operator of the query's plan; ``block`` is the same in one form, under a constant key where it has none."""

    aggregate: Aggregate
    block: Block


def groupings(plan: Plan) -> tuple[Grouping, ...]:
    """Return the aggregations that rows of a query come from.

    Raises:
        Refused: there is none; some read the row around them, or a table is not grouped at all.
    """
    found = tuple(map(_grouping, lowest(plan)))
    if not found:
        first = next(iter(scans(plan)), None)
        is_correlated = any(isinstance(each, Aggregate) for each in every(plan))
        if is_correlated:
            raise Refused(Reason.CORRELATED_SUBQUERY, "groups that read the row around them")
        raise Refused(Reason.ROWS_WITHOUT_GROUPS, "" if first is None else ".".join(first.table))
    return found


def ungrouped(plan: Plan, grouped: Collection[Aggregate]) -> tuple[Scan, ...]:
    """Return the occurrences of tables whose rows reach a query without these aggregations."""
    known = {scan.occurrence for aggregate in grouped for scan in scans(aggregate)}
    return tuple(scan for scan in scans(plan) if scan.occurrence not in known)


def with_groups(plan: Plan) -> Plan:
    """Return a plan in which the distinct rows of tables are groups without aggregates."""
    plan = with_inputs(plan, tuple(map(with_groups, children(plan))))
    if isinstance(plan, Distinct) and not is_of_groups(plan.child) and not is_of_recursion(plan.child):
        return Aggregate(plan.child, plan.output, tuple(map(reference, plan.output)), (), ())
    return plan


def lowest(plan: Plan) -> Iterator[Aggregate]:
    """Yield the lowest aggregations that stand on their own and do not only have groups below."""
    if isinstance(plan, Aggregate) and not is_of_groups(plan.child) and not free_identifiers(plan) and not is_of_recursion(plan):
        yield plan
        return
    for child in children(plan):
        yield from lowest(child)


def is_of_groups(plan: Plan) -> bool:
    """Say whether every row comes from an aggregation."""
    return isinstance(plan, Aggregate) or (not isinstance(plan, Scan) and all(map(is_of_groups, children(plan))))


def _grouping(aggregate: Aggregate) -> Grouping:
    below = unfold(aggregate.child)
    query = QueryBlock(
        source=below.source,
        keys=below.over_source(aggregate.keys) or (exp.true(),),
        where=below.where,
        having=(),
        order=(),
        limit=None,
        offset=None,
        functions=below.over_source(aggregate.functions),
    )
    return Grouping(aggregate, Block(query, aggregate))
