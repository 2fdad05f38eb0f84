"""Whether it can be told by which base rows the rows of a plan are there: it is asked when a view is made, and when rows are explained.

Source: absorption provenance, sections 4 to 6 of the paper on recursive views. Above a recursion the paper stops before such queries.
"""

from __future__ import annotations

from dataclasses import replace

from imp_driver.plan.nodes import Filter, Fixpoint, Plan, Project, Sort, TopK
from imp_driver.plan.rule_forms import NoRule, rule_forms
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused


def traceable(plan: Plan) -> Fixpoint:
    """Return the recursion of a plan that only filters, computes and orders its rows, each of which follows by rules.

    Raises Refused, which says what else the plan does.
    """
    inner = plan
    while isinstance(inner, (Project, Filter, Sort, TopK)):
        inner = inner.child
    if not isinstance(inner, Fixpoint):
        what = f"the query does more than to filter, compute and order rows of one recursion ({type(inner).__name__.lower()})"
        raise Refused(Reason.RECURSION, what)
    if inner.best is not None:
        raise Refused(Reason.RECURSION, "of the best rows of a group it is not kept")
    try:
        rule_forms(replace(inner, is_traced=True))
    except NoRule as error:
        raise Refused(Reason.RECURSION, f"rows are computed round by round, since a step has no rule: {error}") from None
    return inner


def is_traced(plan: Fixpoint) -> bool:
    """Say whether it is kept why the rows of a recursion are there; it is known to be ``traceable``, or has its best rows alone."""
    return plan.is_traced and plan.best is None
