"""The last clauses of a SELECT: window functions, SELECT list, DISTINCT, ORDER BY with LIMIT."""

from __future__ import annotations

from sqlglot import exp

from imp_driver.plan.attributes import reference
from imp_driver.plan.context import Context
from imp_driver.plan.grouping import has_aggregate, text_of
from imp_driver.plan.lookup import Lookup
from imp_driver.plan.nodes import Attribute, Distinct, OrderKey, Plan, Project, Sort, TopK, Window
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused


def order_keys(select: exp.Select, lookup: Lookup, *, is_last: bool) -> tuple[OrderKey, ...]:
    """Resolve ORDER BY over the source, when a LIMIT or being the last of the query gives it a meaning for the rows.

    Raises:
        Refused: OFFSET without LIMIT, or LIMIT without ORDER BY before the last rows.
    """
    order, limit = select.args.get("order"), select.args.get("limit")
    if limit is None:
        if select.args.get("offset"):
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, "OFFSET without LIMIT")
        if not is_last:
            return ()
    if leaves_one_row(select):
        return ()
    if order is None:
        if is_last:
            return ()
        raise Refused(Reason.LIMIT_WITHOUT_ORDER)
    keys = []
    for item in order.expressions:
        if not isinstance(item, exp.Ordered) or item.args.get("with_fill") or item.find(exp.Query, exp.Window):
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, "ORDER BY ALL, or a subquery or window in ORDER BY")
        expression = lookup.order(item.this)
        keys.append(OrderKey(expression, bool(item.args.get("desc")), bool(item.args.get("nulls_first"))))
    return tuple(keys)


def leaves_one_row(select: exp.Select) -> bool:
    """Say whether a LIMIT without ORDER BY drops nothing: an aggregate without GROUP BY has one row at most."""
    limit = select.args.get("limit")
    if not isinstance(limit, exp.Limit) or any(select.args.get(clause) for clause in ("group", "order", "offset", "distinct")):
        return False
    number = limit.expression
    is_positive = isinstance(number, exp.Literal) and not number.is_string and str(number.this).isdigit() and int(str(number.this)) > 0
    return is_positive and not limit.args.get("limit_options") and any(has_aggregate(item) for item in select.expressions)


def windows(
    plan: Plan, expressions: list[exp.Expr], order: tuple[OrderKey, ...], context: Context
) -> tuple[Plan, list[exp.Expr], tuple[OrderKey, ...]]:
    """Compute window functions in an operator of their own; return the expressions and the order over its output."""
    added: list[Attribute] = []
    functions: list[exp.Window] = []
    known: dict[str, Attribute] = {}

    def change(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Window):
            return node
        if node.args.get("alias"):
            raise Refused(Reason.WINDOW_FUNCTION, "a named window")
        if text_of(node) not in known:
            known[text_of(node)] = context.computed("window", node, plan.output)
            added.append(known[text_of(node)])
            functions.append(node.copy())
        return reference(known[text_of(node)])

    rewritten = [expression.transform(change) for expression in expressions]
    ordered = tuple(OrderKey(key.expression.transform(change), key.descending, key.nulls_first) for key in order)
    return (Window(plan, tuple(added), tuple(functions)), rewritten, ordered) if added else (plan, expressions, order)


def finish(
    select: exp.Select, plan: Plan, names: list[str], expressions: list[exp.Expr], order: tuple[OrderKey, ...], context: Context
) -> Plan:
    """Apply SELECT list, DISTINCT, ORDER BY with LIMIT."""
    distinct, limit = select.args.get("distinct"), None if leaves_one_row(select) else select.args.get("limit")
    if distinct is not None and distinct.args.get("on"):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "DISTINCT ON")
    inside = {text_of(expression) for expression in expressions}
    after_projection = distinct is not None or all(text_of(key.expression) in inside for key in order)
    is_ended = limit is not None or bool(order)
    if is_ended and not after_projection:
        plan = ended(plan, select, order)
    output = tuple(context.computed(name, expression, plan.output) for name, expression in zip(names, expressions, strict=True))
    projected: Plan = Project(plan, output, tuple(expressions))
    if distinct is not None:
        projected = Distinct(projected)
    if not is_ended or not after_projection:
        return projected
    by_text = {text_of(expression): reference(attribute) for expression, attribute in zip(expressions, output, strict=True)}
    return ended(projected, select, tuple(_over_output(key, by_text) for key in order))


def ended(plan: Plan, node: exp.Expr, order: tuple[OrderKey, ...]) -> TopK | Sort:
    """Make the top-k of a node that has LIMIT, or put the rows of one that has none in order."""
    limit, offset = node.args.get("limit"), node.args.get("offset")
    if limit is None:
        return Sort(plan, order)
    if not isinstance(limit, exp.Limit) or limit.args.get("limit_options"):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "FETCH, or LIMIT with options")
    return TopK(plan, order, limit.expression, None if offset is None else offset.expression)


def _over_output(key: OrderKey, by_text: dict[str, exp.Column]) -> OrderKey:
    found = by_text.get(text_of(key.expression))
    if found is None:
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "ORDER BY something else than a column of SELECT DISTINCT")
    return OrderKey(found.copy(), key.descending, key.nulls_first)
