"""GROUP BY: whole groups when the key determines every sketched attribute, bounded values otherwise (rules 1.5)."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from imp_driver.plan.attributes import identifiers, plain_identifier
from imp_driver.plan.nodes import Aggregate
from imp_driver.safety.intervals import UNKNOWN, Interval, interval_of
from imp_driver.safety.levels import Bound, Derived, Level, Needs, Refusal, blocked, closure, fail
from imp_driver.safety.predicates import Row, bound_of
from imp_driver.safety.setting import Setting


def derive_aggregate(plan: Aggregate, child: Derived, setting: Setting) -> Derived:
    failed = blocked(child, note="groups above a top-k")
    if failed is not None:
        return failed
    if child.level is Level.FREE:
        return replace(_output(plan, child), level=Level.FREE, note=_note(plan))
    if child.level is Level.ALIGNED:
        determined = _determined(plan, child)
        if determined is not None:
            found = replace(_output(plan, child), level=Level.ALIGNED, determined=determined)
            return replace(found, note=f"{_note(plan)}: every group lies in one fragment")
    return _partial(plan, child, setting)


def _determined(plan: Aggregate, child: Derived) -> dict[int, frozenset[str]] | None:
    """Return which keys determine each sketched attribute; None when some attribute is determined by no key and is not constant."""
    if not plan.keys:
        # There is one row even where nothing is left to aggregate.
        return None
    keys: dict[str, set[str]] = {}
    for attribute, key in zip(plan.key_attributes, plan.keys, strict=True):
        name = plain_identifier(key)
        if name is not None:
            keys.setdefault(name, set()).add(attribute.identifier)
    determined = {}
    for occurrence, names in child.determined.items():
        every = closure(names, child.equal)
        kept = frozenset().union(*(keys.get(name, set()) for name in every))
        if not kept and not every & child.constant:
            return None
        determined[occurrence] = kept
    return determined


def _partial(plan: Aggregate, child: Derived, setting: Setting) -> Derived:
    row = Row.of(child, plan.child.output, setting)
    for key in plan.keys:
        if bound_of(key, row) is not Bound.EQUAL:
            return fail(Refusal.BOUNDED_KEY, f"group by {key.sql(dialect='spark')}, which is computed from part of a group")
    bounds: dict[str, Bound] = {}
    facts: frozenset[str] = frozenset()
    for attribute, function in zip(plan.function_attributes, plan.functions, strict=True):
        bound, rests_on = bound_of_function(function, row, setting)
        if bound is not Bound.EQUAL:
            bounds[attribute.identifier] = bound
        facts |= rests_on
    found = replace(_output(plan, child), level=Level.BOUNDED if bounds else Level.SUBSET, bounds=bounds, determined={})
    note = ", ".join(
        f"{function.sql(dialect='spark')} is {bounds.get(attribute.identifier, Bound.EQUAL).value}"
        for attribute, function in zip(plan.function_attributes, plan.functions, strict=True)
    )
    return replace(found, needs=found.needs | Needs(facts=facts), note=f"{_note(plan)}: a group may be partial, {note or 'keys only'}")


def bound_of_function(function: exp.Expr, row: Row, setting: Setting) -> tuple[Bound, frozenset[str]]:
    """Return how an aggregate of part of a group relates to that of the whole group, and the facts this rests on."""
    if isinstance(function, exp.Filter):
        return bound_of_function(function.this, row, setting) if row.is_exact(function.expression) else (Bound.UNKNOWN, frozenset())
    none: frozenset[str] = frozenset()
    if isinstance(function, (exp.Count, exp.CountIf)):
        # count(*) counts rows; every argument of another count must be exact, since NULL in any of them decides.
        return (Bound.AT_MOST if row.is_exact(function) else Bound.UNKNOWN), none
    argument = function.this
    is_distinct = isinstance(argument, exp.Distinct)
    inner = argument.expressions[0] if is_distinct and len(argument.expressions) == 1 else argument
    if not isinstance(inner, exp.Expr) or isinstance(inner, exp.Distinct) or function.args.get("expressions"):
        return Bound.UNKNOWN, none
    bound = bound_of(inner, row)
    if isinstance(function, exp.Max):
        return (Bound.AT_MOST if bound in (Bound.EQUAL, Bound.AT_MOST) else Bound.UNKNOWN), none
    if isinstance(function, exp.Min):
        return (Bound.AT_LEAST if bound in (Bound.EQUAL, Bound.AT_LEAST) else Bound.UNKNOWN), none
    if type(function) is exp.Sum and setting.checks_overflow and (bound is Bound.EQUAL or not is_distinct):
        return _bound_of_sum(inner, bound, row.derived)
    return Bound.UNKNOWN, none


def _bound_of_sum(argument: exp.Expr, bound: Bound, child: Derived) -> tuple[Bound, frozenset[str]]:
    interval = interval_of(argument, child.intervals)
    if interval.is_nonnegative and bound in (Bound.EQUAL, Bound.AT_MOST):
        return Bound.AT_MOST, interval.facts
    if interval.is_nonpositive and bound in (Bound.EQUAL, Bound.AT_LEAST):
        return Bound.AT_LEAST, interval.facts
    return Bound.UNKNOWN, frozenset()


def _output(plan: Aggregate, child: Derived) -> Derived:
    """Return what holds of the groups whatever is cut: keys are unique, aggregates have intervals."""
    intervals: dict[str, Interval] = {}
    pairs = [*zip(plan.key_attributes, plan.keys, strict=True), *zip(plan.function_attributes, plan.functions, strict=True)]
    for attribute, expression in pairs:
        interval = interval_of(expression, child.intervals)
        if interval != UNKNOWN:
            intervals[attribute.identifier] = interval
    constant = {a.identifier for a, key in zip(plan.key_attributes, plan.keys, strict=True) if identifiers(key) <= child.constant}
    return Derived(
        Level.FAIL,
        constant=frozenset(constant),
        intervals=intervals,
        unique=(frozenset(attribute.identifier for attribute in plan.key_attributes),),
        needs=child.needs,
    )


def _note(plan: Aggregate) -> str:
    return "group by " + (", ".join(key.sql(dialect="spark") for key in plan.keys) or "nothing")
