"""The first rows of each partition by row_number, rank or dense_rank: a top-k for every partition (rules 1.9).

A row that comes later has at least k rows (or distinct places) strictly before it; the first k of them are in the answer, hence kept, and
keep it out. So whole partitions need not lie in one fragment.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from imp_driver.plan.attributes import plain_identifier
from imp_driver.plan.nodes import Filter, Plan, Project, Window
from imp_driver.safety.levels import Derived, Level
from imp_driver.safety.rules.filter import derive_filter
from imp_driver.safety.rules.project import derive_project
from imp_driver.safety.rules.window import derive_window
from imp_driver.safety.setting import Setting


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """A filter above a window whose only function ranks: the ``first`` conjuncts keep the first rows, ``others`` read anything.

    ``projections`` stand between the two, the upper one first; they only rename the rank.
    """

    window: Window
    projections: tuple[Project, ...]
    first: Filter
    others: tuple[exp.Expr, ...]


def find_ranking(plan: Filter) -> Ranking | None:
    """Return what a filter keeps of the first rows of a window's partitions; None when it does nothing of the kind."""
    projections: list[Project] = []
    below: Plan = plan.child
    while isinstance(below, Project):
        projections.append(below)
        below = below.child
    if not isinstance(below, Window) or len(below.functions) != 1:
        return None
    if not isinstance(below.functions[0].this, (exp.RowNumber, exp.Rank, exp.DenseRank)):
        return None
    names = frozenset({below.added[0].identifier})
    for projection in reversed(projections):
        pairs = zip(projection.output, projection.expressions, strict=True)
        names = frozenset(attribute.identifier for attribute, expression in pairs if plain_identifier(expression) in names)
    first = tuple(conjunct for conjunct in plan.conjuncts if _keeps_first(conjunct, names))
    others = tuple(conjunct for conjunct in plan.conjuncts if conjunct not in first)
    return Ranking(below, tuple(projections), Filter(plan.child, first), others) if first else None


def derive_ranking(ranking: Ranking, child: Derived, setting: Setting) -> Derived:
    """Derive the rows that the rank alone keeps; ``child`` is what is known of the window's input, at least SUBSET."""
    derived = derive_window(ranking.window, replace(child, level=Level.FREE, determined={}))
    for projection in reversed(ranking.projections):
        derived = derive_project(projection, derived, setting)
    derived = derive_filter(ranking.first, derived, setting)
    if derived.level is Level.FAIL:
        return derived
    return replace(derived, level=Level.BARRIER, note=f"{derived.note}: the first rows of each partition are covered as a whole")


def _keeps_first(conjunct: exp.Expr, ranks: frozenset[str]) -> bool:
    """Say whether a condition is true of all ranks up to a constant."""
    inner = conjunct.unnest()
    if not isinstance(inner, exp.Binary):
        return False
    left, right = inner.left.unnest(), inner.right.unnest()
    if plain_identifier(left) in ranks:
        rank_is_less, constant = isinstance(inner, (exp.LT, exp.LTE)), right
    elif plain_identifier(right) in ranks:
        rank_is_less, constant = isinstance(inner, (exp.GT, exp.GTE)), left
    else:
        return False
    if isinstance(inner, exp.EQ):
        return isinstance(constant, exp.Literal) and not constant.is_string and str(constant.this) == "1"
    return rank_is_less and (isinstance(constant, exp.Placeholder) or (isinstance(constant, exp.Literal) and not constant.is_string))
