"""Whether it can be told by which base rows the rows of a plan are there: it is asked when a view is made, and when rows are explained.

Source: absorption provenance, sections 4 to 6 of the paper on recursive views. Above a recursion the paper stops before such queries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from imp_driver.plan.attributes import identifiers, plain_identifier
from imp_driver.plan.best import is_strict
from imp_driver.plan.nodes import Aggregate, Filter, Fixpoint, Plan, Project, Sort, TopK
from imp_driver.plan.rule_forms import NoRule, flattened, rule_forms
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused


def traceable(plan: Plan) -> Fixpoint:
    """Return the recursion of a plan that only filters, computes and orders its rows, or its best values, each of which follows by rules.

    Raises Refused, which says what else the plan does.
    """
    inner = plan
    while isinstance(inner, (Project, Filter, Sort, TopK)):
        inner = inner.child
    if isinstance(inner, Aggregate):
        inner = extremes(inner).fixpoint
    elif isinstance(inner, Fixpoint) and inner.best is not None:
        raise Refused(Reason.RECURSION, "of the best rows of a group it is told for the least or greatest value alone")
    if not isinstance(inner, Fixpoint):
        raise _does_more(inner)
    try:
        rule_forms(replace(inner, is_traced=True))
    except NoRule as error:
        raise Refused(Reason.RECURSION, f"rows are computed round by round, since a step has no rule: {error}") from None
    return inner


def _does_more(plan: Plan) -> Refused:
    what = f"the query does more than to filter, compute and order rows of one recursion ({type(plan).__name__.lower()})"
    return Refused(Reason.RECURSION, what)


@dataclass(frozen=True, slots=True)
class Extremes:
    """A recursion whose best rows an aggregation has; ``names`` are its columns in which their kept values are, in their order."""

    fixpoint: Fixpoint
    names: tuple[str, ...]


def extremes(plan: Aggregate) -> Extremes:
    """Return of which recursion an aggregation has the least or greatest value for each group.

    Such a value is there as long as a row has it, since of fewer rows none is better. So it is there by what its rows are there by.

    Raises:
        Refused: it has more than that, or its groups are others than those of the best rows, or these follow from rows that are not best.
    """
    try:
        (found,) = flattened(plan.child, lambda each: not isinstance(each, (Filter, Project)))
    except (NoRule, ValueError):
        raise _does_more(plan) from None
    fixpoint = found.inputs[0]
    if len(found.inputs) != 1 or not isinstance(fixpoint, Fixpoint) or fixpoint.best is None or len(plan.functions) != 1:
        raise _does_more(plan)
    names = {plain_identifier(found.over(key)): own.identifier for key, own in zip(plan.keys, plan.key_attributes, strict=True)}
    best, output = fixpoint.best, fixpoint.output
    groups = {output[place].identifier for place in best.group}
    if set(names) != groups or not all(identifiers(each) <= groups for each in found.conjuncts):
        raise Refused(Reason.RECURSION, "rows of several groups of the recursion may have the least or greatest value of a group")
    if not is_strict(fixpoint):
        raise Refused(Reason.RECURSION, "the least or greatest value may follow from others than the best rows")
    names[output[best.measure].identifier] = plan.function_attributes[0].identifier
    return Extremes(fixpoint, tuple(names[output[place].identifier] for place in best.kept))


def is_traced(plan: Fixpoint) -> bool:
    """Say whether it is kept why the rows of a recursion are there; it is known to be ``traceable``, or has its best rows alone."""
    return plan.is_traced and plan.best is None
