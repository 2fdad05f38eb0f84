"""The day of a query: ``current_date()`` is one value wherever it stands, so it is read as a marker whose value comes with each run."""

from __future__ import annotations

from sqlglot import exp

TODAY = "today()"
"""The name of the marker, which no marker of a text has."""
NAME = "current_date"
"""What a column of this name is written like, which Spark then reads."""


def with_today(tree: exp.Expr) -> tuple[exp.Expr, bool]:
    """Return a statement with markers in the place of its day, and whether it has any."""
    if tree.find(exp.CurrentDate) is None:
        return tree, False

    def marked(node: exp.Expr) -> exp.Expr:
        return exp.Placeholder(this=TODAY) if isinstance(node, exp.CurrentDate) and not node.args.get("this") else node

    if any(each.name.lower() == NAME for each in tree.find_all(exp.Identifier)):
        return tree, False
    return tree.transform(marked), True
