"""A recursion -> rules: joins of what it is given and of its own relations, with conditions and the values of a row that follows.

Source: Datalog rules of the paper on recursive views (section 2). A step that does more has no rule; it is computed round by round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from sqlglot import exp

from imp_driver.plan.attributes import identifiers, plain_identifier, reference, substituted
from imp_driver.plan.nodes import (
    Attribute,
    Distinct,
    Filter,
    Fixpoint,
    Join,
    JoinKind,
    Plan,
    Project,
    Recurrence,
    Scalar,
    SemiJoin,
    UnionAll,
)
from imp_driver.plan.recursion import reads_recursion
from imp_driver.plan.scalars import is_one_row


class NoRule(Exception):
    """A step does more than to join, filter and compute."""


@dataclass(frozen=True, slots=True, eq=False)
class RuleForm:
    """One way in which rows of a recursive relation follow.

    Attributes:
        head: number of the relation.
        inputs: its own relations, and plans that do not read them.
        conjuncts: what holds for one row of each input.
        values: those of the row that follows.
    """

    head: int
    inputs: tuple[Plan, ...]
    conjuncts: tuple[exp.Expr, ...]
    values: tuple[exp.Expr, ...]


def rule_forms(plan: Fixpoint) -> tuple[RuleForm, ...]:
    """Return the rules of a recursion. Raises NoRule."""
    # Where it is to be known why a row is there, each table is an input of its own.
    is_input = _is_one_table if plan.is_traced else _is_input
    return tuple(
        _simplified(relation.number, each, branch.output, is_traced=plan.is_traced)
        for relation in plan.relations
        for branch in (*relation.bases, *relation.steps)
        for each in flattened(branch, is_input)
    )


def _is_input(plan: Plan) -> bool:
    return isinstance(plan, Recurrence) or not (reads_recursion(plan) or _is_renaming(plan))


def _is_renaming(plan: Plan) -> bool:
    """Say whether a projection only passes columns on: below it rows of a table are the same for all that read them."""
    return isinstance(plan, Project) and all(plain_identifier(each) is not None for each in plan.expressions)


def _is_one_table(plan: Plan) -> bool:
    is_join = isinstance(plan, Join) and plan.kind is JoinKind.INNER
    is_parted = is_join or isinstance(plan, (Filter, Project, Distinct, UnionAll)) or (isinstance(plan, SemiJoin) and not plan.anti)
    return isinstance(plan, Recurrence) or not (is_parted or reads_recursion(plan))


@dataclass(frozen=True, slots=True, eq=False)
class Conjunction:
    """A join of ``inputs`` under ``conjuncts``; ``values`` has what the columns above it are, by identifier, where they are others."""

    inputs: tuple[Plan, ...]
    conjuncts: tuple[exp.Expr, ...]
    values: Mapping[str, exp.Expr]

    def over(self, expression: exp.Expr) -> exp.Expr:
        return substituted(expression, self.values)


def flattened(plan: Plan, is_input: Callable[[Plan], bool]) -> list[Conjunction]:
    """Return joins of which all rows together, each once, are those of a plan over certain inputs. Raises NoRule."""
    if is_input(plan):
        return [Conjunction((plan,), (), {})]
    match plan:
        case Filter():
            return [_with(each, plan.conjuncts) for each in flattened(plan.child, is_input)]
        case Project():
            return [_named(each, plan.output, plan.expressions) for each in flattened(plan.child, is_input)]
        case Distinct():
            return flattened(plan.child, is_input)
        case Join() if plan.kind is JoinKind.INNER:
            return _joined(plan, is_input)
        case Scalar() if not plan.correlated and is_one_row(plan.subquery):
            value = Project(plan.subquery, (plan.value,), (reference(plan.subquery.output[0]),))
            return [replace(each, inputs=(*each.inputs, value)) for each in flattened(plan.child, is_input)]
        case SemiJoin() if not plan.anti:
            # A row that has several partners follows several times, and is one row all the same.
            return _joined(plan, is_input)
        case UnionAll():
            both = [(each, tuple(map(reference, branch.output))) for branch in plan.branches for each in flattened(branch, is_input)]
            return [_named(each, plan.output, own) for each, own in both]
        case _:
            raise NoRule(type(plan).__name__)


def _named(conjunction: Conjunction, output: Sequence[Attribute], values: Sequence[exp.Expr]) -> Conjunction:
    pairs = zip(output, values, strict=True)
    return replace(conjunction, values={out.identifier: conjunction.over(value) for out, value in pairs})


def _with(conjunction: Conjunction, conjuncts: Iterable[exp.Expr]) -> Conjunction:
    return replace(conjunction, conjuncts=(*conjunction.conjuncts, *map(conjunction.over, conjuncts)))


def _joined(plan: Join | SemiJoin, is_input: Callable[[Plan], bool]) -> list[Conjunction]:
    pairs = product(flattened(plan.left, is_input), flattened(plan.right, is_input))
    both = [
        Conjunction((*left.inputs, *right.inputs), (*left.conjuncts, *right.conjuncts), {**left.values, **right.values})
        for left, right in pairs
    ]
    return [_with(each, plan.conjuncts) for each in both]


def _simplified(head: int, found: Conjunction, output: tuple[Attribute, ...], *, is_traced: bool) -> RuleForm:
    """Have conditions on given rows alone decided where these are made, once for all rounds; whole tables where rows are traced."""
    inputs, left = list(found.inputs), []
    for conjunct in found.conjuncts:
        places = [place for place, each in enumerate(inputs) if identifiers(conjunct) & _names(each)]
        is_given = bool(places) and not any(isinstance(inputs[place], Recurrence) for place in places)
        if is_traced or not is_given or (len(places) > 1 and equal_columns(conjunct) is not None):
            left.append(conjunct)
            continue
        first, *others = places
        whole = inputs[first]
        for place in others:
            whole = Join(JoinKind.INNER, whole, inputs[place], ())
        inputs[first] = Filter(whole, (conjunct,))
        inputs = [each for place, each in enumerate(inputs) if place not in others]
    return RuleForm(head, tuple(inputs), tuple(left), tuple(found.over(reference(each)) for each in output))


def equal_columns(conjunct: exp.Expr) -> tuple[str, str] | None:
    """Return the two columns that a condition has equal; None for any other condition."""
    inner = conjunct.unnest()
    if not isinstance(inner, exp.EQ):
        return None
    one, other = plain_identifier(inner.left), plain_identifier(inner.right)
    return None if one is None or other is None else (one, other)


def _names(plan: Plan) -> set[str]:
    return {attribute.identifier for attribute in plan.output}
