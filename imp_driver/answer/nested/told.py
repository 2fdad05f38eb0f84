"""What is told of correlated subqueries above groups: the way in which each is evaluated, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from imp_driver.plan.attributes import identifiers, plain_identifier
from imp_driver.plan.below import unfold
from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.nested import decided_by
from imp_driver.plan.nodes import Aggregate, Join, JoinKind, Merge, Plan, Scalar, every
from imp_driver.safety.verdict import readable

_ORDERED = (exp.LT, exp.LTE, exp.GT, exp.GTE)


def told_nested(plan: Plan) -> Iterator[str]:
    """Yield a line for each subquery of a plan that reads the row around it, and for each aggregate that these decide about."""
    for each in every(plan):
        if isinstance(each, Scalar) and free_identifiers(each.subquery):
            yield _told(each)
        elif isinstance(each, Join) and each.kind is JoinKind.LEFT and _is_lookup(each):
            yield f"subquery by {_texts(each.conjuncts)}: equality map, one group looked up for each row, O(1)"


def _is_lookup(plan: Join) -> bool:
    """Say whether a join stands for a subquery (plan/scalars.py)."""
    return isinstance(plan.right, Aggregate) and all(each.identifier.startswith("group_") for each in plan.right.key_attributes)


def _told(scalar: Scalar) -> str:
    merge = unfold(scalar.subquery).source
    if not isinstance(merge, Merge):
        return "subquery that reads the row around it: recapture, by Spark"
    own, between = _between(merge)
    equal = [each for each in between if isinstance(each, exp.EQ)]
    others = [each for each in between if each not in equal]
    names = f"subquery by {_texts(between)}" if between else "subquery"
    are_apart = all(_is_apart(each, own) for each in between)
    inner = {_inner_side(each, own) for each in others}
    if not others and are_apart:
        return f"{names}: equality map, one group looked up for each row, O(1)"
    is_ordered = are_apart and all(isinstance(each, _ORDERED) for each in others)
    within = " within the groups that are equal" if equal else ""
    if is_ordered and len(others) == 1 and _are_sums(merge):
        return f"{names}: prefix descent over the groups in order{within}, O(log n) a change where sums are exact, else running sums, O(n)"
    if is_ordered and len(inner) == 1:
        return f"{names}: running sums over the groups in order{within}, O(n)"
    if is_ordered:
        return f"{names}: running sums over the groups where all of these rise together, O(n), else general, pairs of groups, O(n * m)"
    return f"{names}: general, pairs of groups, O(n * m)"


def _are_sums(merge: Merge) -> bool:
    """Say whether a subquery has sums and counts alone: averages and extremes do not grow with the rows that are in them."""
    rows = decided_by(merge).rows
    finer = (
        dict(zip((each.identifier for each in rows.function_attributes), rows.functions, strict=True))
        if isinstance(rows, Aggregate)
        else {}
    )
    functions = [finer.get(plain_identifier(each) or "", each) for each in merge.functions]
    return all(isinstance(each, (exp.Sum, exp.Count)) and not isinstance(each.this, exp.Distinct) for each in functions)


def _between(merge: Merge) -> tuple[frozenset[str], list[exp.Expr]]:
    """Return the columns of the groups of a subquery, and its conditions with what is around it."""
    decided = decided_by(merge)
    own = frozenset(attribute.identifier for attribute in decided.rows.output) | decided.scalars.keys()
    return own, [each.unnest() for each in decided.where if not identifiers(each) <= own]


def _is_apart(conjunct: exp.Expr, own: frozenset[str]) -> bool:
    """Say whether one side of a comparison is of the groups, and the other of what is around."""
    if not isinstance(conjunct, exp.Binary):
        return False
    sides = [identifiers(conjunct.left), identifiers(conjunct.right)]
    return any(one and one <= own and not other & own for one, other in (sides, sides[::-1]))


def _inner_side(conjunct: exp.Expr, own: frozenset[str]) -> str:
    if not isinstance(conjunct, exp.Binary):
        return ""
    side = conjunct.left if identifiers(conjunct.left) & own else conjunct.right
    return str(side.sql())


def _texts(conjuncts: Sequence[exp.Expr]) -> str:
    return " and ".join(readable(_named(each).sql(dialect="spark")) for each in conjuncts)


def _named(expression: exp.Expr) -> exp.Expr:
    """Return an expression with the names of columns as they were written."""

    def change(node: exp.Expr) -> exp.Expr:
        return exp.column(node.name.removeprefix("group_").partition("#")[0], quoted=True) if isinstance(node, exp.Column) else node

    return expression.transform(change)
