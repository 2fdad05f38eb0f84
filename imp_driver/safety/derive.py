"""The calculus over a whole plan, bottom up, with pins where a rule would fail (sketch-safety rules 1.3, 1.6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, combinations

from imp_driver.plan.expressions import free_identifiers
from imp_driver.plan.nodes import (
    Aggregate,
    Distinct,
    Filter,
    Fixpoint,
    Join,
    Merge,
    OneRow,
    Plan,
    Project,
    Recurrence,
    Scalar,
    Scan,
    SemiJoin,
    SetOperation,
    Sort,
    TopK,
    UnionAll,
    Window,
    children,
)
from imp_driver.reasons import Reason
from imp_driver.safety.levels import Derived, Level, Needs
from imp_driver.safety.rules.aggregate import derive_aggregate
from imp_driver.safety.rules.distinct import derive_distinct
from imp_driver.safety.rules.filter import derive_filter, split
from imp_driver.safety.rules.join import derive_join
from imp_driver.safety.rules.project import derive_project
from imp_driver.safety.rules.ranking import derive_ranking, find_ranking
from imp_driver.safety.rules.scalar import CorrelatedRows, derive_scalar
from imp_driver.safety.rules.scan import derive_scan
from imp_driver.safety.rules.semijoin import derive_semijoin
from imp_driver.safety.rules.setoperation import derive_set_operation
from imp_driver.safety.rules.topk import derive_topk
from imp_driver.safety.rules.union import derive_union
from imp_driver.safety.rules.window import derive_window
from imp_driver.safety.setting import Setting
from imp_driver.values.refusal import Refused


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One operator with its result and those of its inputs; ``pinned`` are the inputs that the proof covers as a whole."""

    plan: Plan
    derived: Derived
    inputs: tuple[Step, ...]
    pinned: tuple[int, ...] = ()


def derive(plan: Plan, setting: Setting) -> Step:
    """Derive a plan bottom up.

    Where the rule of an operator fails, inputs that are safe as queries of their own are pinned: the sketch then covers their whole
    output, they count as FREE, and anything may follow (rules 1.6).
    """
    inputs = tuple(derive(child, setting) for child in children(plan))
    ranked = _ranked(plan, inputs, setting)
    if ranked is not None:
        return ranked
    rows = _correlated_rows(inputs[1]) if isinstance(plan, Scalar) else None
    derived = _rule(plan, [step.derived for step in inputs], rows, setting)
    if derived.level is not Level.FAIL or not setting.may_pin:
        return Step(plan, derived, inputs)
    relaxed = _relaxed(plan, inputs, setting)
    if relaxed is not None:
        return relaxed
    candidates = [place for place, step in enumerate(inputs) if _can_be_pinned(step)]
    for places in chain.from_iterable(combinations(candidates, size) for size in range(1, len(candidates) + 1)):
        found = _rule(plan, [pinned(step) if place in places else step.derived for place, step in enumerate(inputs)], rows, setting)
        if found.level is not Level.FAIL:
            return Step(plan, found, inputs, places)
    return Step(plan, derived, inputs)


def _correlated_rows(step: Step) -> CorrelatedRows | None:
    """Return the filtered rows below a subquery that is one aggregate without keys."""
    aggregates = 0
    while isinstance(step.plan, (Project, Aggregate)):
        aggregates += isinstance(step.plan, Aggregate)
        if isinstance(step.plan, Aggregate) and step.plan.keys:
            return None
        step = step.inputs[0]
    if aggregates != 1 or not isinstance(step.plan, Filter):
        return None
    return CorrelatedRows(step.plan, step.inputs[0].derived)


def _can_be_pinned(step: Step) -> bool:
    """A correlated subquery is no query of its own."""
    return Level.FAIL < step.derived.level < Level.FREE and not free_identifiers(step.plan)


def pinned(step: Step) -> Derived:
    """Return a result as it counts when the sketch covers its whole output."""
    return replace(step.derived, level=Level.FREE, bounds={}, determined={}, needs=step.derived.needs | Needs(pins=(step.plan,)))


def _relaxed(plan: Plan, inputs: tuple[Step, ...], setting: Setting) -> Step | None:
    """Pin a filter with those of its conjuncts that are upward-closed, then apply the others (relaxed capture, rules 1.5)."""
    if not isinstance(plan, Filter) or inputs[0].derived.level is not Level.BOUNDED:
        return None
    allowed, others = split(plan, inputs[0].derived, setting)
    if not allowed or not others:
        return None
    covered = Filter(plan.child, allowed)
    lower = Step(covered, derive_filter(covered, inputs[0].derived, setting), inputs)
    if not _can_be_pinned(lower):
        return None
    above = Filter(covered, others)
    return Step(above, derive_filter(above, pinned(lower), setting), (lower,), (0,))


def _ranked(plan: Plan, inputs: tuple[Step, ...], setting: Setting) -> Step | None:
    """Cover the first rows of a window's partitions as a whole where the window itself proves nothing without a pin (rules 1.9)."""
    ranking = find_ranking(plan) if isinstance(plan, Filter) else None
    if ranking is None:
        return None
    window = inputs[0]
    for _ in ranking.projections:
        window = window.inputs[0]
    below = window.inputs[0]
    if below.derived.level not in (Level.SUBSET, Level.ALIGNED) or (window.derived.level is not Level.FAIL and not window.pinned):
        return None
    lower = Step(ranking.first, derive_ranking(ranking, below.derived, setting), (below,))
    if lower.derived.level is Level.FAIL or not ranking.others:
        return lower
    above = Filter(ranking.first, ranking.others)
    if setting.may_pin and _can_be_pinned(lower):
        return Step(above, derive_filter(above, pinned(lower), setting), (lower,), (0,))
    return Step(above, derive_filter(above, lower.derived, setting), (lower,))


def _rule(plan: Plan, inputs: list[Derived], rows: CorrelatedRows | None, setting: Setting) -> Derived:
    match plan:
        case Scan():
            return derive_scan(plan, setting)
        case Filter():
            return derive_filter(plan, inputs[0], setting)
        case Project():
            return derive_project(plan, inputs[0], setting)
        case Join():
            return derive_join(plan, inputs[0], inputs[1], setting)
        case SemiJoin():
            return derive_semijoin(plan, inputs[0], inputs[1], setting)
        case Scalar():
            return derive_scalar(plan, inputs[0], inputs[1], rows, setting)
        case UnionAll():
            return derive_union(plan, tuple(inputs), setting)
        case SetOperation():
            return derive_set_operation(plan, inputs[0], inputs[1], setting)
        case Distinct():
            return derive_distinct(plan, inputs[0])
        case Aggregate():
            return derive_aggregate(plan, inputs[0], setting)
        case TopK():
            return derive_topk(plan, inputs[0], setting)
        case Sort():
            return inputs[0]
        case Window():
            return derive_window(plan, inputs[0])
        case Recurrence() | Fixpoint() | OneRow() | Merge():
            raise Refused(Reason.RECURSION)
