"""What is told of the recursions of a query: how their rows are followed, and which of them are enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from imp_driver.plan.nodes import Fixpoint, Plan, every
from imp_driver.plan.rule_forms import NoRule, rule_forms


@dataclass(frozen=True, slots=True)
class Told:
    """``reason`` says why the rows are computed anew at each reading; empty where they are followed."""

    operator: str
    reason: str = ""


def told_recursions(plan: Plan) -> Iterator[Told]:
    """Yield a line for each recursion of a plan."""
    for each in every(plan):
        if isinstance(each, Fixpoint):
            names = ", ".join(attribute.name for attribute in each.output)
            try:
                yield Told(f"recursion ({names}) by {len(rule_forms(each))} rules, in levels{_best(each)}")
            except NoRule as error:
                yield Told(f"recursion ({names}), round by round", f"a step has no rule: {error}")


def _best(plan: Fixpoint) -> str:
    if plan.best is None:
        return ""
    names = [attribute.name for attribute in plan.output]
    measure, group = names[plan.best.measure], ", ".join(names[place] for place in plan.best.group)
    which = "greatest" if plan.best.greatest else "least"
    first = which if plan.best.most == 1 else f"{plan.best.most} {which}"
    return f", rows of the {first} {measure}" + (f" for each {group}" if group else "")
