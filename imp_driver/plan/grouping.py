"""GROUP BY, HAVING and aggregate functions of one SELECT -> an Aggregate and what stands above it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.plan.attributes import bracketed, plain_identifier, reference
from imp_driver.plan.context import Context
from imp_driver.plan.lookup import position
from imp_driver.plan.nodes import Aggregate, Attribute, Plan
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused

SET_FUNCTIONS = (exp.Grouping, exp.GroupingId)
"""They ask by which of several sets of keys a group is one."""


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """Groups, and how expressions over the rows below read over them; ``keys`` are columns of theirs.

    ``kinds`` are those of the expressions whose texts ``by_text`` has.
    """

    plan: Plan
    by_text: Mapping[str, Attribute]
    keys: tuple[Attribute, ...]
    kinds: frozenset[type[exp.Expr]]

    def above(self, expression: exp.Expr) -> exp.Expr:
        """Rewrite an expression with aggregate functions over the source to one over the groups.

        Raises:
            Refused: it reads a column that is no group key.
        """

        known = {attribute.identifier for attribute in self.by_text.values()}
        stray: set[str] = set()

        def change(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Query):
                return node.copy()
            # Most nodes need no text to be told from keys and functions.
            may_be_made = type(node.unnest()) in self.kinds and not isinstance(node, (exp.Literal, exp.Ordered))
            found = self.by_text.get(text_of(node)) if may_be_made else None
            if found is None and isinstance(node, exp.Column) and node.name not in known:
                stray.add(node.name)
            return node if found is None else reference(found)

        rewritten = expression.transform(change)
        if stray:
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, f"{', '.join(sorted(stray))}: neither a group key nor inside an aggregate")
        return rewritten


def kinds_of(expressions: Iterable[exp.Expr]) -> frozenset[type[exp.Expr]]:
    """Return the kinds of expressions, whatever brackets are around them."""
    return frozenset(type(each.unnest()) for each in expressions)


def text_of(node: exp.Expr) -> str:
    return str(node.unnest().sql(dialect="spark"))


def has_aggregate(node: exp.Expr) -> bool:
    """Say whether an expression has an aggregate function of this SELECT: not one of a window or a subquery."""
    return bool(aggregates_in(node))


def aggregates_in(node: exp.Expr) -> list[exp.Expr]:
    """Return the outermost aggregate functions, with their FILTER clause if they have one."""
    if isinstance(node, exp.Query):
        return []
    if isinstance(node, exp.Window):
        return [each for place in _window_parts(node) for each in aggregates_in(place)]
    if isinstance(node, exp.AggFunc) or (isinstance(node, exp.Filter) and isinstance(node.this, exp.AggFunc)):
        return [node]
    if isinstance(node, (exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, node.key)
    return [each for child in node.iter_expressions() for each in aggregates_in(child)]


def _window_parts(node: exp.Window) -> list[exp.Expr]:
    parts = list(node.this.iter_expressions()) if isinstance(node.this, exp.Expr) else []
    parts += node.args.get("partition_by") or []
    order = node.args.get("order")
    return [*parts, order] if order is not None else parts


def grouped(child: Plan, keys: tuple[exp.Expr, ...], expressions: Sequence[exp.Expr], context: Context) -> Grouped:
    """Make the Aggregate that serves all ``expressions``, which are over the source.

    Raises Refused: one of them asks for the set of a group, of which there is one alone.
    """
    if any(each.find(*SET_FUNCTIONS) for each in expressions):
        raise Refused(Reason.GROUPING_SETS, "grouping() without them")
    functions = functions_in(expressions)
    plan = aggregation(child, keys, functions, context)
    by_text: dict[str, Attribute] = {}
    for key, attribute in zip((*keys, *functions), plan.output, strict=True):
        by_text.setdefault(text_of(key), attribute)
    return Grouped(plan, by_text, plan.key_attributes, kinds_of((*keys, *functions)))


def functions_in(expressions: Iterable[exp.Expr]) -> tuple[exp.Expr, ...]:
    """Return every aggregate function once, but those that ask for the set of a group."""
    every = (function for expression in expressions for function in aggregates_in(expression))
    return tuple({text_of(each): each for each in every if not isinstance(each, SET_FUNCTIONS)}.values())


def aggregation(child: Plan, keys: tuple[exp.Expr, ...], functions: Sequence[exp.Expr], context: Context) -> Aggregate:
    """Return an Aggregate. Raises Refused: a key is an aggregate itself."""
    if any(has_aggregate(key) for key in keys):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "an aggregate as group key")
    if any(each.find(exp.Query) for each in (*keys, *functions)):
        raise Refused(Reason.SUBQUERY, "in a group key or an aggregate")
    types = {attribute.identifier: attribute for attribute in child.output}
    key_attributes = []
    for key in keys:
        source = types.get(plain_identifier(key) or "")
        key_attributes.append(context.computed("key" if source is None else source.name, key, child.output))
    attributes = [context.computed((each.find(exp.AggFunc) or each).key, each, child.output) for each in functions]
    return Aggregate(child, tuple(key_attributes), keys, tuple(attributes), tuple(each.copy() for each in functions))


def ordinal(item: exp.Expr, select: exp.Select) -> exp.Expr:
    """Return the item of the SELECT list that a position names, or the item itself."""
    place = position(item)
    if place is None:
        return item
    items = [item.unalias() for item in select.expressions]
    if not 1 <= place <= len(items) or any(each.is_star for each in items):
        raise Refused(Reason.AMBIGUOUS_NAME, f"position {item.this}")
    return bracketed(items[place - 1])
