"""FROM -> plan and scope: tables, derived tables, CTEs and joins."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from imp_driver.plan.attributes import conjuncts_of, reference, replaced
from imp_driver.plan.context import CommonTable, Context, ResolveQuery, ViewDefinition, Visible
from imp_driver.plan.nodes import Attribute, Join, JoinKind, Plan, Scan, SemiJoin
from imp_driver.plan.recursion import fixpoint, recurrence
from imp_driver.plan.scope import Scope, Source
from imp_driver.plan.sets import written_rows
from imp_driver.plan.views import unfold, view_columns
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused


def resolve_from(select: exp.Select, context: Context, visible: Visible, outer: Scope | None, query: ResolveQuery) -> tuple[Plan, Scope]:
    """Resolve FROM with its joins, left to right.

    Raises:
        Refused: no table is read, or an item has no rule.
    """
    clause = select.args.get("from_")
    if clause is None:
        raise Refused(Reason.NO_AGGREGATION, "the query reads no table")
    plan, sources = _items(clause.this, context, visible, query)
    scope = Scope(sources, outer)
    for join in select.args.get("joins") or ():
        plan, scope = _join(plan, scope, join, context, visible, query)
    return plan, scope


def _items(node: exp.Expr, context: Context, visible: Visible, query: ResolveQuery) -> tuple[Plan, tuple[Source, ...]]:
    """Resolve an item of FROM with the joins that belong to it, in brackets too: ``(a JOIN b ON ..)``."""
    if isinstance(node, exp.Subquery) and not isinstance(node.this, exp.Query) and not node.alias:
        plan, sources = _items(node.this, context, visible, query)
    else:
        plan, source = _item(node, context, visible, query)
        sources = (source,)
    scope = Scope(sources)
    for join in node.args.get("joins") or ():
        plan, scope = _join(plan, scope, join, context, visible, query)
    return plan, scope.sources


def _item(node: exp.Expr, context: Context, visible: Visible, query: ResolveQuery) -> tuple[Plan, Source]:
    names = _column_aliases(node)
    if isinstance(node, exp.Table):
        common = visible.get(node.name.lower()) if len(node.parts) == 1 else None
        plan = _relation(node, context, query) if common is None else _common(common, context, query)
        output = plan.output if common is None or common.component else _named(plan.output, common.columns, context)
        return plan, Source((node.alias or node.name).lower(), _named(output, names, context))
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
        plan = query(node, visible, None)
        return plan, Source(node.alias.lower(), _named(plan.output, names, context))
    if isinstance(node, exp.Values):
        rows = written_rows(node, context)
        return rows, Source(node.alias.lower(), _named(rows.output, names, context))
    raise Refused(Reason.TABLE_FUNCTION, node.key)


def _common(common: CommonTable, context: Context, query: ResolveQuery) -> Plan:
    if common.recurrence is not None:
        return recurrence(common, context)
    return fixpoint(common, context, query) if common.component else query(common.query, common.visible, None)


def _relation(table: exp.Table, context: Context, query: ResolveQuery) -> Plan:
    if not isinstance(table.this, exp.Identifier):
        raise Refused(Reason.TABLE_FUNCTION, table.sql(dialect="spark"))
    for name in ("when", "changes", "only", "partition", "ordinality", "rows_from", "format", "pattern"):
        if table.args.get(name):
            raise Refused(Reason.TIME_TRAVEL if name in ("when", "changes") else Reason.UNSUPPORTED_EXPRESSION, name)
    definition = context.find(table)
    if isinstance(definition, ViewDefinition):
        reference, inside = unfold(table, definition, context)
        return view_columns(query(reference.tree, {}, None, inside), reference, context)
    lowered = [column.name.lower() for column in definition.schema]
    if len(set(lowered)) != len(lowered):
        raise Refused(Reason.AMBIGUOUS_NAME, "two columns of the table differ only in case")
    occurrence = next(context.occurrences)
    output = tuple(context.column(column, occurrence) for column in definition.schema)
    return Scan(occurrence, definition.name, output, table, context.views)


def _column_aliases(node: exp.Expr) -> tuple[str, ...]:
    alias = node.args.get("alias")
    return tuple(column.name for column in (alias.args.get("columns") or ())) if isinstance(alias, exp.TableAlias) else ()


def _named(attributes: tuple[Attribute, ...], names: tuple[str, ...], context: Context) -> tuple[Attribute, ...]:
    if not names:
        return attributes
    if len(names) != len(attributes):
        raise Refused(Reason.AMBIGUOUS_NAME, "column aliases do not match the columns")
    return tuple(replace(attribute, name=name) for attribute, name in zip(attributes, names, strict=True))


def _join(left: Plan, scope: Scope, join: exp.Join, context: Context, visible: Visible, query: ResolveQuery) -> tuple[Plan, Scope]:
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    if join.args.get("method") or kind not in ("", "INNER", "CROSS", "OUTER", "SEMI", "ANTI"):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, f"{join.args.get('method') or kind} JOIN")
    right, sources = _items(join.this, context, visible, query)
    conjuncts, sources = _condition(join, scope, sources)
    if kind in ("SEMI", "ANTI"):
        return SemiJoin(left, right, conjuncts, anti=kind == "ANTI"), scope
    joined = Scope((*scope.sources, *sources), scope.outer)
    match side:
        case "":
            return Join(JoinKind.INNER, left, right, conjuncts), joined
        case "LEFT":
            return Join(JoinKind.LEFT, left, right, conjuncts), joined
        case "RIGHT" if not join.args.get("using"):
            return Join(JoinKind.LEFT, right, left, conjuncts), joined
        case "FULL" if not join.args.get("using"):
            return Join(JoinKind.FULL, left, right, conjuncts), joined
        case _:
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, f"{side} JOIN USING")


def _condition(join: exp.Join, left: Scope, right: tuple[Source, ...]) -> tuple[tuple[exp.Expr, ...], tuple[Source, ...]]:
    """Return the conjuncts of ON or USING, and the right sources with the columns hidden that USING merges."""
    if join.args.get("using"):
        pairs = []
        for identifier in join.args["using"]:
            column = exp.column(identifier.name)
            pairs.append((Scope(left.sources).find(column)[0], Scope(right).find(column)[0]))
        hidden = frozenset(attribute.identifier for _, attribute in pairs)
        conjuncts = tuple(exp.EQ(this=reference(one), expression=reference(other)) for one, other in pairs)
        return conjuncts, tuple(replace(source, hidden=source.hidden | hidden) for source in right)
    both = Scope((*left.sources, *right), left.outer)
    condition = join.args.get("on")
    if condition is None:
        return (), right
    if condition.find(exp.Query):
        raise Refused(Reason.SUBQUERY, "in a join condition")

    def find(column: exp.Column) -> exp.Expr:
        attribute, depth = both.find(column)
        if depth:
            raise Refused(Reason.CORRELATED_SUBQUERY, "in a join condition")
        return reference(attribute)

    return conjuncts_of(replaced(condition, find)), right
