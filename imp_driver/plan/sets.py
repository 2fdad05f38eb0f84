"""UNION, INTERSECT and EXCEPT, with the ORDER BY and LIMIT that stand after them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from imp_driver.plan.attributes import reference
from imp_driver.plan.context import Context
from imp_driver.plan.finish import ended
from imp_driver.plan.nodes import Attribute, Distinct, OneRow, OrderKey, Plan, Project, SetKind, SetOperation, UnionAll
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused


def resolve_set(node: exp.SetOperation, context: Context, query: Callable[[exp.Expr], Plan], *, is_last: bool) -> Plan:
    """Resolve a set operation; its columns are named by its first branch.

    Raises:
        Refused: branches of different width, BY NAME, or an order by something else than its columns.
    """
    if node.args.get("by_name") or node.args.get("on") or node.args.get("side") or node.args.get("kind"):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "a set operation BY NAME")
    left, right = query(node.left), query(node.right)
    if len(left.output) != len(right.output):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "branches of different width")
    output = tuple(_merged(one, other, context) for one, other in zip(left.output, right.output, strict=True))
    distinct = bool(node.args.get("distinct"))
    plan: Plan
    if isinstance(node, exp.Union):
        plan = UnionAll((left, right), output)
        plan = Distinct(plan) if distinct else plan
    elif isinstance(node, (exp.Intersect, exp.Except)):
        kind = SetKind.INTERSECT if isinstance(node, exp.Intersect) else SetKind.EXCEPT
        plan = SetOperation(kind, left, right, output, distinct)
    else:
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, node.key)
    return _ordered(node, plan, is_last=is_last)


def written_rows(node: exp.Values, context: Context) -> Plan:
    """Resolve VALUES: each row is one of no table. Raises Refused where a value is no constant, or rows differ in width."""
    context.note_made(Reason.TABLE_FUNCTION)
    rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
    if len({len(row) for row in rows}) != 1 or any(each.find(exp.Column, exp.Query, exp.Alias, exp.Window) for row in rows for each in row):
        raise Refused(Reason.TABLE_FUNCTION, "VALUES of different width, or of what is no constant")
    branches = tuple(_written(row, context) for row in rows)
    if len(branches) == 1:
        return branches[0]
    output = branches[0].output
    for other in branches[1:]:
        output = tuple(_merged(one, each, context) for one, each in zip(output, other.output, strict=True))
    return UnionAll(branches, output)


def _written(row: Sequence[exp.Expr], context: Context) -> Project:
    output = tuple(context.computed(f"col{place}", value, ()) for place, value in enumerate(row, 1))
    return Project(OneRow(), output, tuple(row))


def _merged(one: Attribute, other: Attribute, context: Context) -> Attribute:
    """The type is certain only where both branches agree; elsewhere Spark converts."""
    same = one.type_name == other.type_name
    kind = one.kind if one.kind == other.kind else None
    return context.attribute(one.name, one.type_name if same else None, one.nullable or other.nullable, kind)


def _ordered(node: exp.SetOperation, plan: Plan, *, is_last: bool) -> Plan:
    order, limit = node.args.get("order"), node.args.get("limit")
    if limit is None:
        if node.args.get("offset"):
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, "OFFSET without LIMIT")
        if order is None or not is_last:
            return plan
    if order is None and not is_last:
        raise Refused(Reason.LIMIT_WITHOUT_ORDER)
    return ended(plan, node, tuple(_key(item, plan) for item in ([] if order is None else order.expressions)))


def _key(item: exp.Expr, plan: Plan) -> OrderKey:
    if not isinstance(item, exp.Ordered):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "ORDER BY ALL")
    inner = item.this.unnest()
    found: list[Attribute] = []
    if isinstance(inner, exp.Literal) and str(inner.this).isdigit() and 1 <= int(str(inner.this)) <= len(plan.output):
        found = [plan.output[int(str(inner.this)) - 1]]
    elif isinstance(inner, exp.Column) and not inner.table:
        found = [attribute for attribute in plan.output if attribute.name.lower() == inner.name.lower()]
    if len(found) != 1:
        raise Refused(Reason.AMBIGUOUS_NAME, item.sql(dialect="spark"))
    return OrderKey(reference(found[0]), bool(item.args.get("desc")), bool(item.args.get("nulls_first")))
