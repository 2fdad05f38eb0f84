"""Attributes inside expressions: a column node whose name is the attribute's identifier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sqlglot import exp

from imp_driver.plan.nodes import Attribute

Replace = Callable[[exp.Column], exp.Expr]


def column_named(name: str) -> exp.Column:
    """Return a fresh column of exactly this name."""
    return exp.Column(this=exp.to_identifier(name, quoted=True))


def reference(attribute: Attribute) -> exp.Column:
    """Return a fresh expression that stands for an attribute."""
    return column_named(attribute.identifier)


def identifiers(expression: exp.Expr) -> frozenset[str]:
    """Return the identifiers of all attributes that an expression reads."""
    return frozenset(column.name for column in expression.find_all(exp.Column))


def plain_identifier(expression: exp.Expr) -> str | None:
    """Return the identifier when an expression is nothing but an attribute."""
    inner = expression.unnest()
    return inner.name if isinstance(inner, exp.Column) else None


def conjuncts_of(expression: exp.Expr) -> tuple[exp.Expr, ...]:
    """Split a condition at its ANDs, of which BETWEEN is one too, and at what all sides of an OR have in common."""
    inner = expression.unnest()
    if isinstance(inner, exp.And):
        return (*conjuncts_of(inner.left), *conjuncts_of(inner.right))
    if isinstance(inner, exp.Between) and not inner.args.get("symmetric"):
        low, high = inner.args["low"], inner.args["high"]
        return (exp.GTE(this=inner.this.copy(), expression=low.copy()), exp.LTE(this=inner.this.copy(), expression=high.copy()))
    return _factored(inner) if isinstance(inner, exp.Or) and inner.find(exp.Query) is None else (inner,)


def _factored(whole: exp.Or) -> tuple[exp.Expr, ...]:
    """Return ``a AND b OR a AND c`` as ``a`` and ``b OR c``: the same for NULL too, and what Spark itself makes of it."""
    sides = [{each.sql(): each for each in conjuncts_of(side)} for side in whole.flatten()]
    common = [text for text in sides[0] if all(text in side for side in sides)]
    if not common:
        return (whole,)
    rests = [[each for text, each in side.items() if text not in common] for side in sides]
    found = tuple(sides[0][text] for text in common)
    # A side without a rest is true wherever the common part is.
    return (*found, exp.or_(*(exp.and_(*rest) for rest in rests))) if all(rests) else found


def replaced(expression: exp.Expr, replace: Replace) -> exp.Expr:
    """Return a copy with every column replaced; what takes its place is bracketed where it must be."""

    def change(node: exp.Expr) -> exp.Expr:
        return bracketed(replace(node)) if isinstance(node, exp.Column) else node

    return expression.transform(change)


def bracketed(expression: exp.Expr) -> exp.Expr:
    """Bracket what takes a column's place: AND and OR are functions to the parser, yet written between their operands."""
    needs_none = isinstance(expression, (exp.Column, exp.Func, exp.Literal, exp.Paren)) and not isinstance(expression, exp.Binary)
    return expression if needs_none else exp.Paren(this=expression)


def substituted(expression: exp.Expr, values: Mapping[str, exp.Expr]) -> exp.Expr:
    """Return a copy in which some attributes are replaced by expressions."""
    return replaced(expression, lambda column: values[column.name].copy() if column.name in values else column)


def by_identifier(attributes: Iterable[Attribute]) -> dict[str, Attribute]:
    return {attribute.identifier: attribute for attribute in attributes}
