"""What is known of the values of expressions, for the sign rules of sums (sketch-safety rules 1.11). NULL is outside every interval.

Bounds that come from the data are facts that can expire: they carry their text, and whoever uses the proof checks them on every delta.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Interval:
    """``low <= value <= high``; None is open. ``facts`` are the texts of the facts that this rests on."""

    low: Decimal | None = None
    high: Decimal | None = None
    facts: frozenset[str] = frozenset()

    @property
    def is_nonnegative(self) -> bool:
        return self.low is not None and self.low >= 0

    @property
    def is_nonpositive(self) -> bool:
        return self.high is not None and self.high <= 0


UNKNOWN = Interval()


def interval_of(expression: exp.Expr, known: Mapping[str, Interval]) -> Interval:
    """Return an interval that holds every non-NULL value of an expression."""
    match expression:
        case exp.Paren():
            return interval_of(expression.this, known)
        case exp.Column():
            return known.get(expression.name, UNKNOWN)
        case exp.Literal() if not expression.is_string:
            return _literal(expression)
        case exp.Neg():
            return _negated(interval_of(expression.this, known))
        case exp.Abs():
            return Interval(Decimal(0))
        case exp.Add():
            return _sum(interval_of(expression.left, known), interval_of(expression.right, known))
        case exp.Sub():
            return _sum(interval_of(expression.left, known), _negated(interval_of(expression.right, known)))
        case exp.Mul():
            return _product(expression, known)
        case exp.Case() | exp.If() | exp.Coalesce() | exp.Greatest() | exp.Least():
            return any_of([interval_of(each, known) for each in _branches(expression)])
        case exp.Count() | exp.CountIf() | exp.ApproxDistinct():
            return Interval(Decimal(0))
        case exp.Sum():
            inner = interval_of(_argument(expression), known)
            zero = Decimal(0)
            return Interval(zero if inner.is_nonnegative else None, zero if inner.is_nonpositive else None, inner.facts)
        case exp.Min() | exp.Max() | exp.Avg():
            return interval_of(_argument(expression), known)
        case exp.Filter():
            return interval_of(expression.this, known)
        case _:
            return UNKNOWN


def _literal(expression: exp.Literal) -> Interval:
    try:
        value = Decimal(str(expression.this))
    except InvalidOperation:
        return UNKNOWN
    return Interval(value, value)


def _argument(expression: exp.Expr) -> exp.Expr:
    inner = expression.this
    if isinstance(inner, exp.Distinct):
        return inner.expressions[0] if len(inner.expressions) == 1 else exp.null()
    return inner if isinstance(inner, exp.Expr) else exp.null()


def _negated(interval: Interval) -> Interval:
    low = None if interval.high is None else -interval.high
    high = None if interval.low is None else -interval.low
    return Interval(low, high, interval.facts)


def _sum(one: Interval, other: Interval) -> Interval:
    low = None if one.low is None or other.low is None else one.low + other.low
    high = None if one.high is None or other.high is None else one.high + other.high
    return Interval(low, high, one.facts | other.facts)


def _product(expression: exp.Mul, known: Mapping[str, Interval]) -> Interval:
    left, right = expression.left.unnest(), expression.right.unnest()
    if left == right and isinstance(left, exp.Column):
        return Interval(Decimal(0))
    one, other = interval_of(left, known), interval_of(right, known)
    facts = one.facts | other.facts
    zero = Decimal(0)
    if (one.is_nonnegative and other.is_nonnegative) or (one.is_nonpositive and other.is_nonpositive):
        return Interval(zero, None, facts)
    if (one.is_nonnegative and other.is_nonpositive) or (one.is_nonpositive and other.is_nonnegative):
        return Interval(None, zero, facts)
    return UNKNOWN


def _branches(expression: exp.Expr) -> list[exp.Expr]:
    """Return the values an expression may take; a missing ELSE is NULL."""
    if isinstance(expression, exp.Case):
        branches = [branch.args["true"] for branch in expression.args.get("ifs") or ()]
        default = expression.args.get("default")
        return branches if default is None else [*branches, default]
    if isinstance(expression, exp.If):
        default = expression.args.get("false")
        return [expression.args["true"]] if default is None else [expression.args["true"], default]
    return [expression.this, *expression.expressions]


def any_of(intervals: Sequence[Interval]) -> Interval:
    """Return an interval that holds the values of all of them."""
    lows, highs = [each.low for each in intervals], [each.high for each in intervals]
    low = min((each for each in lows if each is not None), default=None) if None not in lows else None
    high = max((each for each in highs if each is not None), default=None) if None not in highs else None
    return Interval(low, high, frozenset().union(*(each.facts for each in intervals)))
