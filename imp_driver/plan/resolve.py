"""Parsed query -> resolved plan. The clauses of a SELECT in the order in which SQL means them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.plan.attributes import bracketed, conjuncts_of, plain_identifier, reference, replaced
from imp_driver.plan.check import check
from imp_driver.plan.context import Context, Tables, Visible
from imp_driver.plan.finish import finish, order_keys, windows
from imp_driver.plan.grouping import Grouped, aggregates_in, grouped, ordinal
from imp_driver.plan.grouping_sets import grouped_by_sets, keys_of, written_sets
from imp_driver.plan.lookup import Lookup, own_column
from imp_driver.plan.nodes import Aggregate, OneRow, OrderKey, Plan
from imp_driver.plan.recursion import has_recursion, with_common_tables
from imp_driver.plan.scope import Scope, Source
from imp_driver.plan.sets import resolve_set
from imp_driver.plan.sources import resolve_from
from imp_driver.plan.subqueries import Conditions, Rows
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused


def resolve(tree: exp.Expr, tables: Tables, *, keeps_order: bool = False, asked: set[str] | None = None) -> Plan:
    """Resolve a parsed query; ``keeps_order`` where the order of its rows, and a LIMIT without one, are part of the plan.

    Args:
        asked: takes what recursive views ask of the moment of the query.

    Raises:
        Refused: something has no rule, or a name cannot be resolved with certainty.
    """
    check(tree)
    context = Context(tables, asked=set() if asked is None else asked)
    plan = _Resolver(context).query(tree, {}, None, is_last=keeps_order)
    if context.made and not has_recursion(plan):
        raise Refused(context.made[0], "the query reads rows of no table")
    return plan


@dataclass(frozen=True, slots=True)
class _Resolver:
    context: Context

    def query(self, node: exp.Expr, visible: Visible, outer: Scope | None, inside: Context | None = None, *, is_last: bool = False) -> Plan:
        """Resolve a query in brackets or without, with its WITH; ``inside`` another text when a context is given."""
        if inside is not None:
            return _Resolver(inside).query(node, visible, outer)
        node, visible = unwrapped(node, visible)
        if isinstance(node, exp.SetOperation):
            return resolve_set(node, self.context, lambda branch: self.query(branch, visible, outer), is_last=is_last)
        if not isinstance(node, exp.Select):
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, node.key)
        return self._select(node, visible, outer, is_last=is_last)

    def _select(self, select: exp.Select, visible: Visible, outer: Scope | None, *, is_last: bool) -> Plan:
        if select.args.get("from_") is None and outer is None:
            return self._values(select, visible, is_last=is_last)
        subqueries = _Subqueries(self, visible)
        plan, scope = resolve_from(select, self.context, visible, outer, self.query)
        where, having = select.args.get("where"), select.args.get("having")
        if where is not None:
            conditions = Conditions(plan, self.context, lambda column: reference(scope.find(column)[0]), scope, subqueries)
            plan = conditions.add(conjuncts_of(where.this))
        items = _items(select, scope)
        plan, items = self._below_groups(plan, items, scope, subqueries)
        lookup = Lookup.of(scope, items)
        expressions, order = [expression for _, expression in items], order_keys(select, lookup, is_last=is_last)
        condition = None if having is None else lookup.having(having.this)
        if select.args.get("group") or condition is not None or any(map(aggregates_in, expressions)):
            readers = [*expressions, *([] if condition is None else [condition]), *(key.expression for key in order)]
            group = _grouped(plan, select, lookup, readers, self.context)
            scope = _of_keys(group, scope)
            plan = group.plan if condition is None else self._having(group, condition, scope, subqueries)
            expressions = [group.above(expression) for expression in expressions]
            order = tuple(OrderKey(group.above(key.expression), key.descending, key.nulls_first) for key in order)
        if any(expression.find(exp.Query) for expression in expressions):
            above = Conditions(plan, self.context, lambda column: column, scope, subqueries)
            expressions = [above.with_scalars(expression) for expression in expressions]
            order = tuple(OrderKey(above.with_scalars(key.expression), key.descending, key.nulls_first) for key in order)
            plan = above.plan
        plan, expressions, order = windows(plan, expressions, order, self.context)
        return finish(select, plan, [name for name, _ in items], expressions, order, self.context)

    def _below_groups(
        self, plan: Plan, items: list[tuple[str, exp.Expr]], scope: Scope, subqueries: _Subqueries
    ) -> tuple[Plan, list[tuple[str, exp.Expr]]]:
        """Compute the subqueries inside of aggregate functions for each row, below the groups."""
        if not any(expression.find(exp.Query) for _, expression in items):
            return plan, items
        below = Conditions(plan, self.context, lambda column: column, scope, subqueries)

        def change(node: exp.Expr) -> exp.Expr:
            is_changed = any(node is each and each.find(exp.Query) for each in aggregates_in(node))
            return below.with_scalars(node) if is_changed else node

        changed = [(name, expression.transform(change)) for name, expression in items]
        return below.plan, changed

    def _values(self, select: exp.Select, visible: Visible, *, is_last: bool) -> Plan:
        """Resolve a SELECT without FROM: the first subquery of its list that has one row, whatever it reads, takes FROM's place."""
        found = (each for item in select.expressions for each in item.find_all(exp.Query) if _has_one_row(each))
        first = next(found, None)
        others = any(select.args.get(clause) for clause in ("where", "group", "having"))
        if first is None and not others:
            return self._one_row(select)
        if first is None or others or any(aggregates_in(item) or item.find(exp.Window) for item in select.expressions):
            raise Refused(Reason.NO_AGGREGATION, "the query reads no table")
        plan, scope = self.query(first, visible, None), Scope(())
        above = Conditions(plan, self.context, lambda column: column, scope, _Subqueries(self, visible))
        above.know(first, plan.output)
        items = _items(select, scope)
        lookup = Lookup.of(scope, items)
        order = tuple(
            OrderKey(above.with_scalars(key.expression), key.descending, key.nulls_first)
            for key in order_keys(select, lookup, is_last=is_last)
        )
        expressions = [above.with_scalars(expression) for _, expression in items]
        return finish(select, above.plan, [name for name, _ in items], expressions, order, self.context)

    def _one_row(self, select: exp.Select) -> Plan:
        """Resolve a SELECT without FROM with which a recursion begins, or which stands beside one."""
        if any(aggregates_in(value) or value.find(exp.Window, exp.Query) for value in select.expressions):
            raise Refused(Reason.NO_AGGREGATION, "the query reads no table")
        self.context.note_made(Reason.NO_AGGREGATION)
        items = _items(select, Scope(()))
        return finish(select, OneRow(), [name for name, _ in items], [value for _, value in items], (), self.context)

    def _having(self, group: Grouped, condition: exp.Expr, scope: Scope, subqueries: _Subqueries) -> Plan:
        """Apply HAVING over the groups; a subquery in it sees the group keys by their names."""
        return Conditions(group.plan, self.context, lambda column: column, scope, subqueries).add(conjuncts_of(group.above(condition)))


@dataclass(frozen=True, slots=True)
class _Subqueries:
    resolver: _Resolver
    visible: Visible

    def whole(self, node: exp.Expr, outer: Scope) -> Plan:
        return self.resolver.query(node, self.visible, outer)

    def rows(self, node: exp.Expr, outer: Scope) -> Rows | None:
        inner, visible = unwrapped(node, self.visible)
        more = ("group", "having", "limit", "offset", "distinct", "windows")
        if not isinstance(inner, exp.Select) or any(inner.args.get(name) for name in more):
            return None
        if any(aggregates_in(item) or item.find(exp.Window, exp.Query) for item in inner.expressions):
            return None
        return self._rows(inner, visible, outer)

    def _rows(self, select: exp.Select, visible: Visible, outer: Scope) -> Rows:
        plan, scope = resolve_from(select, self.resolver.context, visible, outer, self.resolver.query)
        outside: list[exp.Expr] = []
        inside: list[exp.Expr] = []
        where = select.args.get("where")
        for conjunct in () if where is None else conjuncts_of(where.this):
            (outside if _reads_outside(conjunct, scope) else inside).append(conjunct)
        if inside:
            conditions = Conditions(
                plan, self.resolver.context, lambda column: own_column(scope, column), scope, _Subqueries(self.resolver, visible)
            )
            plan = conditions.add(inside)
        correlated = tuple(replaced(conjunct, lambda column: reference(scope.find(column)[0])) for conjunct in outside)
        items = () if any(item.unalias().is_star for item in select.expressions) else tuple(e for _, e in _items(select, scope))
        return Rows(plan, items, correlated)


def _of_keys(group: Grouped, below: Scope) -> Scope:
    """Return what subqueries above groups see: the keys, those that are columns under the names of their tables too."""
    written = group.plan.keys if isinstance(group.plan, Aggregate) else ()
    columns = {plain_identifier(key): attribute for key, attribute in zip(written, group.keys, strict=False)}
    named = [
        Source(source.qualifier, tuple(found for each in source.attributes if (found := columns.get(each.identifier)) is not None))
        for source in below.sources
    ]
    known = {attribute.identifier for source in named for attribute in source.attributes}
    others = tuple(attribute for attribute in group.keys if attribute.identifier not in known)
    return Scope((*named, Source("", others)), below.outer)


def _has_one_row(query: exp.Expr) -> bool:
    """Say whether a query has one row, whatever is in its tables: aggregates without GROUP BY."""
    inner = query.unnest()
    if not isinstance(inner, exp.Select) or inner.args.get("from_") is None:
        return False
    drops = any(inner.args.get(clause) for clause in ("group", "having", "limit", "offset"))
    return not drops and any(map(aggregates_in, inner.expressions))


def _reads_outside(conjunct: exp.Expr, scope: Scope) -> bool:
    """Say whether a condition without subqueries reads a name of the query around."""
    if conjunct.find(exp.Query):
        return False
    return any(scope.find(column)[1] > 0 for column in conjunct.find_all(exp.Column))


def unwrapped(node: exp.Expr, visible: Visible) -> tuple[exp.Expr, Visible]:
    """Take off brackets, collecting WITH clauses on the way."""
    while True:
        visible = _with_common_tables(node, visible)
        if not isinstance(node, (exp.Subquery, exp.Paren)):
            return node, visible
        if any(node.args.get(name) for name in ("order", "limit", "offset", "joins", "pivots")):
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, "ORDER BY, LIMIT or JOIN after brackets")
        node = node.this


def _with_common_tables(node: exp.Expr, visible: Visible) -> Visible:
    clause = node.args.get("with_")
    return visible if clause is None else with_common_tables(clause, visible)


def _items(select: exp.Select, scope: Scope) -> list[tuple[str, exp.Expr]]:
    """Return name and expression of each output, stars expanded."""
    items: list[tuple[str, exp.Expr]] = []
    for item in select.expressions:
        value = item.unalias()
        star = value.this if isinstance(value, exp.Column) else value
        if isinstance(star, exp.Star):
            if any(star.args.get(name) for name in ("except_", "except", "replace", "rename")):
                raise Refused(Reason.UNSUPPORTED_EXPRESSION, "* EXCEPT")
            qualifier = value.table if isinstance(value, exp.Column) else ""
            items += [(attribute.name, reference(attribute)) for attribute in scope.star(qualifier)]
            continue
        name = item.alias_or_name if isinstance(item, (exp.Alias, exp.Column)) else ""
        items.append((name, _outside_subqueries(value, lambda column: own_column(scope, column))))
    return items


def _outside_subqueries(value: exp.Expr, resolve: Callable[[exp.Column], exp.Expr]) -> exp.Expr:
    """Resolve the names of an expression; its subqueries stay as they are written."""

    def change(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Query):
            return node.copy()
        return bracketed(resolve(node)) if isinstance(node, exp.Column) else node

    if any(each.find(exp.Query) for each in value.find_all(exp.Window)):
        raise Refused(Reason.SUBQUERY, "inside a window of the SELECT list")
    return value.transform(change)


def _grouped(plan: Plan, select: exp.Select, lookup: Lookup, readers: Sequence[exp.Expr], context: Context) -> Grouped:
    """Return the groups of a SELECT, by one set of keys or by several."""
    group = select.args.get("group")
    sets = None if group is None else written_sets(group)
    if group is None or sets is None:
        return grouped(plan, _keys(select, lookup), readers, context)

    def resolved(keys: Sequence[exp.Expr]) -> tuple[exp.Expr, ...]:
        return tuple(replaced(ordinal(key, select), lookup.group_key) for key in keys)

    return grouped_by_sets(plan, resolved(keys_of(group, sets)), tuple(map(resolved, sets)), readers, context)


def _keys(select: exp.Select, lookup: Lookup) -> tuple[exp.Expr, ...]:
    group = select.args.get("group")
    if group is None:
        return ()
    if group.args.get("totals"):
        raise Refused(Reason.GROUPING_SETS)
    if group.args.get("all"):
        items = [item.unalias() for item in select.expressions if not aggregates_in(item)]
    else:
        items = [ordinal(item, select) for item in group.expressions]
    return tuple(replaced(item, lookup.group_key) for item in items)
