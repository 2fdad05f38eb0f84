"""What a name means in GROUP BY, HAVING and ORDER BY, where aliases of the SELECT list and columns of its sources are both visible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.plan.attributes import bracketed, reference, replaced
from imp_driver.plan.scope import Scope
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused


def outputs_of(items: Iterable[tuple[str, exp.Expr]]) -> dict[str, exp.Expr | None]:
    """Map each alias in lower case to its expression; one given twice stands for nothing certain."""
    outputs: dict[str, exp.Expr | None] = {}
    for name, expression in items:
        if name:
            outputs[name.lower()] = None if name.lower() in outputs else expression
    return outputs


def position(item: exp.Expr) -> int | None:
    """Return the place in the SELECT list that a number stands for; 0 for one that is no place, None for other expressions."""
    item = item.unnest()
    if not isinstance(item, exp.Literal) or item.is_string:
        return None
    return int(str(item.this)) if str(item.this).isdigit() else 0


def own_column(scope: Scope, column: exp.Column) -> exp.Expr:
    """Resolve a name that must be a column of this SELECT's own sources."""
    attribute, depth = scope.find(column)
    if depth:
        raise Refused(Reason.CORRELATED_SUBQUERY, f"{column.sql(dialect='spark')} outside WHERE")
    return reference(attribute)


@dataclass(frozen=True, slots=True)
class Lookup:
    """``items`` are the resolved items of the SELECT list, stars expanded; ``outputs`` those with a name."""

    scope: Scope
    items: tuple[exp.Expr, ...]
    outputs: dict[str, exp.Expr | None]

    @classmethod
    def of(cls, scope: Scope, items: Sequence[tuple[str, exp.Expr]]) -> Lookup:
        return cls(scope, tuple(expression for _, expression in items), outputs_of(items))

    def column(self, column: exp.Column) -> exp.Expr:
        return own_column(self.scope, column)

    def group_key(self, column: exp.Column) -> exp.Expr:
        """Spark takes a column of the source first, and an alias only where there is none."""
        alias = self.outputs.get(column.name.lower())
        if not column.table and not self.scope.has(column.name) and alias is not None:
            return alias.copy()
        return self.column(column)

    def alias_or_column(self, column: exp.Column) -> exp.Expr:
        """Alias and column must not disagree."""
        name = column.name.lower()
        if column.table or name not in self.outputs:
            return self.column(column)
        found = self.outputs[name]
        if found is None or (self.scope.has(name) and self.column(exp.column(name)) != found.unnest()):
            raise Refused(Reason.AMBIGUOUS_NAME, column.name)
        return found.copy()

    def having(self, condition: exp.Expr) -> exp.Expr:
        """Resolve HAVING: aliases outside aggregates, columns inside them; subqueries stay as they are written."""

        def change(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Query):
                return node.copy()
            if isinstance(node, exp.AggFunc):
                return replaced(node, self.column)
            return bracketed(self.alias_or_column(node)) if isinstance(node, exp.Column) else node

        return condition.transform(change)

    def order(self, expression: exp.Expr) -> exp.Expr:
        """Resolve ORDER BY: an alias alone wins over a column of its name, in an expression the two must not disagree.

        A position is its item, whatever others are called.
        """
        place = position(expression)
        if place is not None:
            if not 1 <= place <= len(self.items):
                raise Refused(Reason.AMBIGUOUS_NAME, f"position {place}")
            return self.items[place - 1].copy()
        alone = expression.unnest()
        if isinstance(alone, exp.Column) and not alone.table:
            found = self.outputs.get(alone.name.lower())
            if found is not None:
                return found.copy()
        return replaced(expression, self.alias_or_column)
