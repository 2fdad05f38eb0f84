"""Which occurrences a plan is linear in: the change of its rows is then the plan itself over the changed rows (IMP paper 5.2.1-5.2.3).

A plan is linear in an occurrence when nothing between the two compares rows with each other: filters, projections, unions, inner joins,
and the side of other joins whose rows are only kept or dropped one by one.
"""

from __future__ import annotations

from imp_driver.plan.nodes import Filter, Join, JoinKind, Plan, Project, Scalar, Scan, SemiJoin, UnionAll, scans


def is_linear(plan: Plan, occurrence: int) -> bool:
    """Say whether signed rows of an occurrence give signed rows of the plan, everything else held fixed."""
    path = linear_input(plan, occurrence)
    if path is None:
        return False
    return isinstance(plan, Scan) or is_linear(path, occurrence)


def linear_input(plan: Plan, occurrence: int) -> Plan | None:
    """Return the input of an operator that holds the occurrence when the operator is linear in it (a scan: itself)."""
    match plan:
        case Scan():
            return plan if plan.occurrence == occurrence else None
        case Filter() | Project() | Scalar():
            inputs: tuple[Plan, ...] = (plan.child,)
        case Join() if plan.kind is JoinKind.INNER:
            inputs = (plan.left, plan.right)
        case Join() if plan.kind is JoinKind.LEFT:
            inputs = (plan.left,)
        case SemiJoin():
            inputs = (plan.left,)
        case UnionAll():
            inputs = plan.branches
        case _:
            inputs = ()
    return next((each for each in inputs if any(scan.occurrence == occurrence for scan in scans(each))), None)
