"""What a true conjunct says of the rows that pass it: equal columns, constants, intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.nodes import Attribute
from imp_driver.safety.intervals import UNKNOWN, Interval, interval_of
from imp_driver.safety.levels import Bound, Derived, Refusal, closure, fail, merged_classes
from imp_driver.safety.predicates import Row, is_preserved
from imp_driver.safety.rules.copartition import equated

_WHOLE = {"byte", "short", "integer", "long"}
_TURNED = {exp.GT: exp.LT, exp.GTE: exp.LTE, exp.LT: exp.GT, exp.LTE: exp.GTE, exp.EQ: exp.EQ}


def learned(derived: Derived, conjuncts: tuple[exp.Expr, ...], types: Mapping[str, Attribute]) -> Derived:
    """Add to a result what its rows satisfy."""
    pairs = tuple(pair for each in conjuncts if (pair := equal_pair(each, types, derived)) is not None)
    equal = merged_classes((*derived.equal, *pairs))
    constant = derived.constant | {name for each in conjuncts if (name := _constant(each, types, derived)) is not None}
    intervals = dict(derived.intervals)
    for each in conjuncts:
        _narrow(each, intervals)
    determined = {occurrence: closure(attributes, equal) for occurrence, attributes in derived.determined.items()}
    return replace(derived, equal=equal, constant=closure(frozenset(constant), equal), intervals=intervals, determined=determined)


def not_preserved(conjuncts: tuple[exp.Expr, ...], row: Row) -> Derived | None:
    """Return the failure of the first conjunct that a BOUNDED row may satisfy and its image not; None when there is none."""
    refused = next((conjunct for conjunct in conjuncts if not is_preserved(conjunct, row)), None)
    return (
        None if refused is None else fail(Refusal.NOT_UPWARD_CLOSED, f"{refused.sql(dialect='spark')} could become true on part of a group")
    )


def equal_pair(conjunct: exp.Expr, types: Mapping[str, Attribute], derived: Derived) -> frozenset[str] | None:
    """Return two attributes that a conjunct equates: of one known type, so that nothing is converted, and both exact."""
    pair = equated(conjunct, types)
    return pair if pair is not None and derived.is_exact(pair) else None


def _constant(conjunct: exp.Expr, types: Mapping[str, Attribute], derived: Derived) -> str | None:
    """Return an exact attribute that a conjunct equates to a literal which equals one value of its type only."""
    if not isinstance(conjunct, exp.EQ):
        return None
    for one, other in ((conjunct.left, conjunct.right), (conjunct.right, conjunct.left)):
        name, literal = plain_identifier(one), other.unnest()
        if name is None or name not in types or not isinstance(literal, exp.Literal) or derived.bound(name) is not Bound.EQUAL:
            continue
        type_name = types[name].type_name or ""
        is_whole = not literal.is_string and str(literal.this).isdigit()
        if (literal.is_string and type_name == "string") or (is_whole and type_name in _WHOLE):
            return name
    return None


def _narrow(conjunct: exp.Expr, intervals: dict[str, Interval]) -> None:
    """Narrow the interval of an attribute that is compared with a literal."""
    if isinstance(conjunct, exp.Between):
        _narrow(exp.GTE(this=conjunct.this, expression=conjunct.args["low"]), intervals)
        _narrow(exp.LTE(this=conjunct.this, expression=conjunct.args["high"]), intervals)
        return
    kind = type(conjunct)
    if kind not in _TURNED or not isinstance(conjunct, exp.Binary):
        return
    for compared, one, other in ((kind, conjunct.left, conjunct.right), (_TURNED[kind], conjunct.right, conjunct.left)):
        name, literal = plain_identifier(one), interval_of(other, {})
        if name is None or literal.low is None or literal.low != literal.high:
            continue
        known = intervals.get(name, UNKNOWN)
        if compared in (exp.GT, exp.GTE, exp.EQ) and (known.low is None or literal.low > known.low):
            known = replace(known, low=literal.low)
        if compared in (exp.LT, exp.LTE, exp.EQ) and (known.high is None or literal.low < known.high):
            known = replace(known, high=literal.low)
        intervals[name] = known
