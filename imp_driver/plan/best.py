"""Which rows of a recursion are enough for what reads it: the best of each group, so that a graph with cycles has finitely many paths.

Source: aggregate selection, section 6 and Algorithm 4 of the paper on recursive views. A recursion is read by one place of a plan. Rows
that are not best are not missed where it reads the least (or greatest) value of a column alone, rows that have it, or the first ones by
it; and the best of a group follow from the best of others where a step keeps their order: its groups, conditions and measure know no other
column, and a better row leads to no worse one. Several such values of one recursion are a recursion each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from imp_driver.plan.attributes import identifiers, plain_identifier
from imp_driver.plan.best_rows import Best
from imp_driver.plan.convert import whole_number
from imp_driver.plan.nodes import (
    Aggregate,
    Attribute,
    Filter,
    Fixpoint,
    Join,
    JoinKind,
    Plan,
    Project,
    Recurrence,
    UnionAll,
    Window,
    children,
    every,
)
from imp_driver.plan.rebuild import with_inputs
from imp_driver.plan.rule_forms import Conjunction, NoRule, RuleForm, equal_columns, flattened, rule_forms
from imp_driver.plan.signature import signature

_NUMBERS = (exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT, exp.DType.DECIMAL, exp.DType.DOUBLE)
_MOST_FIRST = 100
"""First rows of a group that are followed; beyond these all are."""


def with_best(plan: Plan) -> Plan:
    """Return a plan in which recursions have the best rows alone, where no others are missed."""
    if not any(isinstance(each, Fixpoint) for each in every(plan)):
        return plan
    match plan:
        case Aggregate():
            plan = _of_extremes(plan)
        case Filter(child=Project() | Window()):
            plan = _of_first(plan)
    if isinstance(plan, (Filter, Join, Project)):
        plan = _of_rows_that_have_it(plan)
    return with_inputs(plan, tuple(map(with_best, children(plan))))


def is_strict(fixpoint: Fixpoint) -> bool:
    """Say whether best rows follow from best rows alone: each row that a step reads is in the measure, which rises where that of it does.

    Where a value is rounded that need not be.
    """
    assert fixpoint.best is not None
    measure = _Measure(fixpoint.best.measure, fixpoint.best.greatest)
    for rule in rule_forms(fixpoint):
        read = identifiers(rule.values[measure.place])
        own = [each.output[measure.place].identifier for each in rule.inputs if isinstance(each, Recurrence)]
        if not set(own) <= read or not _Step.of(rule, measure).keeps_order(is_strict=True):
            return False
    return True


@dataclass(frozen=True, slots=True)
class _Measure:
    place: int
    greatest: bool


def _of_extremes(plan: Aggregate) -> Plan:
    """``SELECT g, min(m) FROM recursion .. GROUP BY g``, where it reads nothing else of it."""
    found = _region(plan.child)
    keys, functions = [found.over(key) for key in plan.keys], [found.over(each) for each in plan.functions]
    if not all(isinstance(each, (exp.Min, exp.Max)) and not each.args.get("expressions") for each in functions):
        return plan
    for fixpoint in _open(found.inputs):
        own = _places(fixpoint.output)
        measures = list(
            dict.fromkeys(
                _Measure(own[name], isinstance(each, exp.Max)) for each in functions if (name := plain_identifier(each.this)) in own
            )
        )
        others = [*keys, *found.conjuncts, *(each for each in functions if plain_identifier(each.this) not in own)]
        used = _read(others, own)
        best = [_best(fixpoint, measure, used, is_pruned=True) for measure in measures]
        if len(best) == 1 and best[0] is not None:
            plan = replace(plan, child=_replaced(plan.child, fixpoint, replace(fixpoint, best=best[0])))
        elif len(best) > 1 and None not in best and len(found.inputs) == 1:
            plan = replace(plan, child=_replaced(plan.child, fixpoint, _several(fixpoint, [each for each in best if each is not None])))
    return plan


def _several(fixpoint: Fixpoint, every: Sequence[Best]) -> Plan:
    """Return the rows that are best by one of some measures: an extreme of another measure than its own is no better for them."""
    branches = []
    for number, best in enumerate(every):
        named = tuple(replace(attribute, identifier=f"{attribute.identifier}_best{number}") for attribute in fixpoint.output)
        branches.append(Fixpoint((replace(fixpoint.relations[0], output=named),), best))
    return UnionAll(tuple(branches), fixpoint.output)


def _of_rows_that_have_it(plan: Plan) -> Plan:
    """``SELECT .. FROM recursion p JOIN (SELECT g, min(m) AS m FROM recursion GROUP BY g) q ON p.g = q.g AND p.m = q.m``."""
    found = _region(plan)
    equal = {sides for each in found.conjuncts if (sides := equal_columns(each)) is not None}
    for fixpoint in _open(found.inputs):
        for aggregate in found.inputs:
            if isinstance(aggregate, Aggregate) and (best := _as_extreme(fixpoint, aggregate, {*equal, *(sides[::-1] for sides in equal)})):
                return _replaced(plan, fixpoint, replace(fixpoint, best=best))
    return plan


def _as_extreme(fixpoint: Fixpoint, aggregate: Aggregate, equal: set[tuple[str, str]]) -> Best | None:
    """Return the best rows of a recursion that have an extreme of the same recursion; None where they are to have more or less."""
    below = _region(aggregate.child)
    same = below.inputs[0]
    if len(below.inputs) != 1 or below.conjuncts or not isinstance(same, Fixpoint):
        return None
    if signature(replace(same, best=None)) != signature(replace(fixpoint, best=None)):
        return None
    own = _places(same.output)
    keys = [plain_identifier(below.over(key)) for key in aggregate.keys]
    places = [own[key] for key in keys if key in own]
    joined = all(
        (fixpoint.output[at].identifier, key.identifier) in equal for at, key in zip(places, aggregate.key_attributes, strict=False)
    )
    if len(places) != len(keys) or not joined:
        return None
    for attribute, function in zip(aggregate.function_attributes, aggregate.functions, strict=True):
        name = plain_identifier(below.over(function.this)) if isinstance(function, (exp.Min, exp.Max)) else None
        if name in own and (fixpoint.output[own[name]].identifier, attribute.identifier) in equal:
            return _best(fixpoint, _Measure(own[name], isinstance(function, exp.Max)), set(places), is_pruned=False)
    return None


def _of_first(plan: Filter) -> Plan:
    """``SELECT .. FROM (SELECT .., rank() OVER (PARTITION BY g ORDER BY m DESC) AS r FROM recursion) WHERE r <= 3``."""
    names: dict[str, str] = {}
    inner = plan.child
    while isinstance(inner, Project):
        own = {out.identifier: plain_identifier(value) for out, value in zip(inner.output, inner.expressions, strict=True)}
        names = {name: there for name, at in (names or {each: each for each in own}).items() if (there := own.get(at)) is not None}
        inner = inner.child
    if not isinstance(inner, Window):
        return plan
    below = _region(inner.child)
    fixpoint = below.inputs[0]
    if len(below.inputs) != 1 or below.conjuncts or not isinstance(fixpoint, Fixpoint) or fixpoint.best is not None:
        return plan
    if len(inner.functions) > 1:
        # Any other function would be over the best rows alone.
        return plan
    (added,), (function,) = inner.added, inner.functions
    of_rank = {added.identifier, *(name for name, at in names.items() if at == added.identifier)}
    bounds = [bound for each in plan.conjuncts if (bound := _bound(each, of_rank)) is not None]
    most = min(bounds, default=0)
    best = _first(fixpoint, below, function, most) if 0 < most <= _MOST_FIRST else None
    return plan if best is None else replace(plan, child=_replaced(plan.child, fixpoint, replace(fixpoint, best=best)))


def _bound(conjunct: exp.Expr, names: set[str]) -> int | None:
    """Return the greatest whole number that a condition lets one of some columns be."""
    inner = conjunct.unnest()
    if not isinstance(inner, (exp.LT, exp.LTE, exp.EQ)) or plain_identifier(inner.left) not in names:
        return None
    number = whole_number(inner.right)
    return None if number is None else number - isinstance(inner, exp.LT)


def _first(fixpoint: Fixpoint, below: Conjunction, function: exp.Window, most: int) -> Best | None:
    order = function.args.get("order")
    if not isinstance(function.this, (exp.RowNumber, exp.Rank, exp.DenseRank)) or order is None:
        return None
    own, first = _places(fixpoint.output), order.expressions[0]
    keys = [plain_identifier(below.over(each)) for each in function.args.get("partition_by") or ()]
    name = plain_identifier(below.over(first.this)) if isinstance(first, exp.Ordered) else None
    if name not in own or any(key not in own for key in keys):
        return None
    is_descending, nulls_first = bool(first.args.get("desc")), bool(first.args.get("nulls_first"))
    places = {own[key] for key in keys if key is not None}
    best = _best(fixpoint, _Measure(own[name], is_descending), places, is_pruned=False)
    return None if best is None else replace(best, most=most, nulls_first=nulls_first, needs_values=True)


def _region(plan: Plan) -> Conjunction:
    """Return joins and filters with what stands below them."""
    try:
        (found,) = flattened(plan, lambda each: not isinstance(each, (Filter, Project)) and not _is_inner(each))
    except (NoRule, ValueError):
        return Conjunction((plan,), (), {})
    return found


def _is_inner(plan: Plan) -> bool:
    return isinstance(plan, Join) and plan.kind is JoinKind.INNER


def _open(inputs: Sequence[Plan]) -> Iterator[Fixpoint]:
    """Yield recursions of one relation of which all rows are followed so far."""
    for each in inputs:
        if isinstance(each, Fixpoint) and each.best is None and len(each.relations) == 1:
            yield each


def _replaced(plan: Plan, old: Plan, new: Plan) -> Plan:
    return new if plan is old else with_inputs(plan, tuple(_replaced(each, old, new) for each in children(plan)))


def _places(output: Sequence[Attribute]) -> dict[str | None, int]:
    return {attribute.identifier: place for place, attribute in enumerate(output)}


def _read(expressions: Sequence[exp.Expr], places: dict[str | None, int]) -> set[int]:
    return {places[name] for each in expressions for name in identifiers(each) if name in places}


def _best(fixpoint: Fixpoint, measure: _Measure, used: set[int], *, is_pruned: bool) -> Best | None:
    """Return the best rows of a recursion by a measure; None where others could lead to better ones.

    Args:
        used: columns of which rows that differ are different groups.
        is_pruned: whether no other column is read of the rows.
    """
    try:
        rules = rule_forms(fixpoint)
    except NoRule:
        return None
    steps = [_Step.of(rule, measure) for rule in rules]
    group = set(used)
    for step in steps:
        found = step.conditions()
        if found is None:
            return None
        group |= found
    while True:
        more = {place for step in steps for at in {*group, measure.place} for place in step.read(at)} - group
        if not more:
            break
        group |= more
    is_strict = not is_pruned
    if measure.place in group or not all(step.keeps_order(is_strict=is_strict) for step in steps):
        return None
    kept = sorted({*group, measure.place}) if is_pruned else range(len(fixpoint.output))
    needs_values = any(step.has_extremes for step in steps)
    return Best(tuple(sorted(group)), measure.place, measure.greatest, kept=tuple(kept), is_strict=is_strict, needs_values=needs_values)


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """A rule, with the places of the columns that it reads of the recursion."""

    rule: RuleForm
    measure: _Measure
    places: dict[str | None, int]

    @classmethod
    def of(cls, rule: RuleForm, measure: _Measure) -> _Step:
        own = [each for each in rule.inputs if isinstance(each, Recurrence)]
        return cls(rule, measure, {name: place for each in own for name, place in _places(each.output).items()})

    def read(self, place: int) -> set[int]:
        """Return the columns by which a column of the row that follows is made; of the measure, those beside it."""
        found = _read([self.rule.values[place]], self.places)
        return found - {self.measure.place} if place == self.measure.place else found

    def conditions(self) -> set[int] | None:
        """Return the columns that conditions read; None where a better row could fail one."""
        found: set[int] = set()
        for conjunct in self.rule.conjuncts:
            read = _read([conjunct], self.places)
            if self.measure.place in read and not self._is_bound(conjunct.unnest()):
                return None
            found |= read - {self.measure.place}
        return found

    @property
    def has_extremes(self) -> bool:
        """Whether LEAST or GREATEST is among what the measure and conditions are made of."""
        return any(each.find(exp.Least, exp.Greatest) for each in (*self.rule.conjuncts, self.rule.values[self.measure.place]))

    def keeps_order(self, *, is_strict: bool) -> bool:
        """Say whether a better row leads to no worse one, and where ``is_strict`` only to a better one."""
        value = self.rule.values[self.measure.place]
        return not self.places or (self._is_rising(value) if is_strict else self._is_ascending(value))

    def _is_rising(self, value: exp.Expr) -> bool:
        """Say whether a value rises wherever the measure does, but for rounding and NULL."""
        inner = value.unnest()
        if isinstance(inner, exp.Column):
            return self._has_measure(inner)
        if isinstance(inner, exp.Add):
            sides = (inner.left, inner.right)
            return any(map(self._is_rising, sides)) and all(self._is_rising(each) or not self._has_measure(each) for each in sides)
        return isinstance(inner, exp.Sub) and self._is_rising(inner.left) and not self._has_measure(inner.right)

    def _is_bound(self, conjunct: exp.Expr) -> bool:
        """Say whether a condition that holds for a row holds for each better one."""
        if not isinstance(conjunct, (exp.LT, exp.LTE, exp.GT, exp.GTE)):
            return False
        is_upper = isinstance(conjunct, (exp.LT, exp.LTE))
        below, above = (conjunct.left, conjunct.right) if is_upper is not self.measure.greatest else (conjunct.right, conjunct.left)
        return self._is_ascending(below) and not self._has_measure(above)

    def _has_measure(self, value: exp.Expr) -> bool:
        return self.measure.place in _read([value], self.places)

    def _is_ascending(self, value: exp.Expr) -> bool:
        """Say whether a value does not fall where the measure rises."""
        inner = value.unnest()
        if not self._has_measure(inner) or isinstance(inner, exp.Column):
            return True
        match inner:
            case exp.Add():
                return self._is_ascending(inner.left) and self._is_ascending(inner.right)
            case exp.Sub():
                return self._is_ascending(inner.left) and not self._has_measure(inner.right)
            case exp.Cast() if inner.to.this in _NUMBERS:
                # Rounded, a greater number is no less.
                return self._is_ascending(inner.this)
            case exp.Least() | exp.Greatest():
                return all(map(self._is_ascending, (inner.this, *inner.expressions)))
            case _:
                return False
