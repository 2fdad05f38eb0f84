"""The day and the time of a query: one value wherever they stand in it, so they are read as markers whose values come with each run."""

from __future__ import annotations

from sqlglot import exp

TODAY, NOW = "today()", "now()"
"""The names of the markers, which no marker of a text has."""
NAMES = frozenset({"current_date", "current_timestamp"})
"""What a column of such a name is written like, which Spark then reads."""
_READ_BY = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.Alias, exp.Select)


def with_moment(tree: exp.Expr) -> tuple[exp.Expr, frozenset[str]]:
    """Return a statement with markers in the place of its day and its time, and which of them it has."""
    if not any(_marker(node) for node in tree.walk()) or any(each.name.lower() in NAMES for each in tree.find_all(exp.Identifier)):
        return tree, frozenset()
    tree = tree.copy()
    found = [(node, marker) for node in tree.walk() if (marker := _marker(node)) is not None]
    if not all(marker == TODAY or _is_read(node) for node, marker in found):
        # With a time that is not known as soon as the query begins, Spark reads all of them.
        found = [(node, marker) for node, marker in found if marker == TODAY]
    markers = {id(node): marker for node, marker in found}

    def marked(node: exp.Expr) -> exp.Expr:
        marker = markers.get(id(node))
        return node if marker is None else exp.Placeholder(this=marker)

    return tree.transform(marked, copy=False), frozenset(markers.values())


def _marker(node: exp.Expr) -> str | None:
    if isinstance(node, exp.CurrentDate):
        return None if node.args.get("this") else TODAY
    if isinstance(node, exp.CurrentTimestamp):
        return None if node.args.get("this") else NOW
    return NOW if isinstance(node, exp.Anonymous) and node.name.lower() == "now" and not node.expressions else None


def _is_read(node: exp.Expr) -> bool:
    """Say whether what is made of a time is a constant that can be computed before the query (plan/moments.py)."""
    parent = node.parent
    while parent is not None and is_of_moment(parent):
        parent = parent.parent
    return isinstance(parent, _READ_BY)


def is_of_moment(node: exp.Expr) -> bool:
    """Say whether an operator makes a constant time or day of a constant time."""
    match node:
        case exp.Add() | exp.Sub():
            return interval_of(node.right) is not None or (isinstance(node, exp.Add) and interval_of(node.left) is not None)
        case exp.Cast():
            return node.to.this in (exp.DType.DATE, exp.DType.TIMESTAMPNTZ)
        case exp.TsOrDsToDate():
            return not node.args.get("format")
        case _:
            return isinstance(node, (exp.Paren, exp.TimestampTrunc))


def interval_of(node: exp.Expr) -> tuple[int, str] | None:
    """Return number and unit of an interval of one unit, as ``(7, "day")``; None for another one and for what is none."""
    unit = str(getattr(node.args.get("unit"), "name", "")).lower().removesuffix("s") if isinstance(node, exp.Interval) else ""
    count = str(node.this.this) if isinstance(node.this, exp.Literal) else ""
    is_whole = count.removeprefix("-").isdigit() and count.isascii() and len(count) <= _MOST_DIGITS
    return (int(count), unit) if unit and is_whole else None


_MOST_DIGITS = 6
