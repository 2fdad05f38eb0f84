"""Wrong versions of the safety rules, one at a time: the attack must find every one, or it proves nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """``old`` stands once in the file, whose path is relative to the calculus, and is replaced by ``new``."""

    name: str
    file: str
    old: str
    new: str


MUTANTS = (
    Mutant(
        "average is bounded",
        "rules/aggregate.py",
        "isinstance(function, (exp.Count, exp.CountIf))",
        "isinstance(function, (exp.Count, exp.CountIf, exp.Avg))",
    ),
    Mutant("any key determines", "rules/aggregate.py", "if not kept and not every & child.constant:", "if False:"),
    Mutant("scalar aggregate over one value", "rules/aggregate.py", "if not plan.keys:", "if False:"),
    Mutant("sum of any sign", "rules/aggregate.py", "if interval.is_nonnegative and bound in", "if bound in"),
    Mutant(
        "maximum turned",
        "rules/aggregate.py",
        "(Bound.AT_MOST if bound in (Bound.EQUAL, Bound.AT_MOST)",
        "(Bound.AT_LEAST if bound in (Bound.EQUAL, Bound.AT_MOST)",
    ),
    Mutant(
        "minimum turned",
        "rules/aggregate.py",
        "(Bound.AT_LEAST if bound in (Bound.EQUAL, Bound.AT_LEAST)",
        "(Bound.AT_MOST if bound in (Bound.EQUAL, Bound.AT_LEAST)",
    ),
    Mutant("bounded group key", "rules/aggregate.py", "if bound_of(key, row) is not Bound.EQUAL:", "if False:"),
    Mutant("aligned over a subset", "rules/aggregate.py", "if child.level is Level.ALIGNED:", "if child.level >= Level.SUBSET:"),
    Mutant(
        "group key by expression",
        "rules/aggregate.py",
        "name = plain_identifier(key)\n        if name is not None:\n            keys",
        "name = min(identifiers(key), default=None)\n        if name is not None:\n            keys",
    ),
    Mutant("equality is upward-closed", "predicates.py", "_GREATER = (exp.GT, exp.GTE)", "_GREATER = (exp.GT, exp.GTE, exp.EQ)"),
    Mutant(
        "NOT is upward-closed",
        "predicates.py",
        "case exp.Paren():\n            return is_preserved",
        "case exp.Paren() | exp.Not():\n            return is_preserved",
    ),
    Mutant("less is greater", "predicates.py", "_LESS = (exp.LT, exp.LTE)", "_LESS = ()\n_GREATER = (exp.GT, exp.GTE, exp.LT, exp.LTE)"),
    Mutant(
        "minus keeps a bound",
        "predicates.py",
        "case exp.Neg():\n            return bound_of(expression.this, row).flipped",
        "case exp.Neg():\n            return bound_of(expression.this, row)",
    ),
    Mutant("order keys move ahead", "rules/topk.py", "if not stays_behind(key, row):", "if False:"),
    Mutant("NULL first in a bounded order", "rules/topk.py", "if key.nulls_first:", "if False:"),
    Mutant("top-k is no barrier", "rules/topk.py", "level=Level.BARRIER", "level=Level.SUBSET"),
    Mutant("order that ties taken for decided", "rules/topk.py", "if not is_total(plan, child):", "if False:"),
    Mutant(
        "needs of one input alone",
        "levels.py",
        "(*self.undecided, *(top for top in other.undecided if all(top is not own for own in self.undecided)))",
        "self.undecided and other.undecided",
    ),
    Mutant(
        "ties where rows begin", "../dataflow/bounds/topk.py", "for boundary in boundaries if 0 <", "for boundary in boundaries[-1:] if 0 <"
    ),
    Mutant(
        "ties where rows end", "../dataflow/bounds/topk.py", "for boundary in boundaries if 0 <", "for boundary in boundaries[:1] if 0 <"
    ),
    Mutant("a tie is decided", "../dataflow/bounds/topk.py", "last < following", "last <= following"),
    Mutant("any rank may be asked for", "rules/ranking.py", 'and str(constant.this) == "1"', ""),
    Mutant("later ranks", "rules/ranking.py", "isinstance(inner, (exp.LT, exp.LTE)), right", "True, right"),
    Mutant("first ranks are no barrier", "rules/ranking.py", "level=Level.BARRIER", "level=Level.SUBSET"),
    Mutant("row numbers of ties", "rules/window.py", "if isinstance(function.this, POSITIONS):", "if False:"),
    Mutant(
        "first ranks over bounded values",
        "derive.py",
        "not in (Level.SUBSET, Level.ALIGNED)",
        "not in (Level.BOUNDED, Level.SUBSET, Level.ALIGNED)",
    ),
    Mutant(
        "union of cut and uncut",
        "rules/copartition.py",
        "branch.output[place].identifier in common_determinants(derived)",
        "derived.level is Level.FREE or branch.output[place].identifier in common_determinants(derived)",
    ),
    Mutant("union without a common set", "rules/copartition.py", "if not share_one_set(occurrences_of(branches), setting):", "if False:"),
    Mutant("distinct over bounded values", "rules/distinct.py", "if child.level is Level.BOUNDED:", "if False:"),
    Mutant("cut right side of NOT EXISTS", "rules/semijoin.py", "    if plan.anti:\n", "    if False:\n"),
    Mutant("NOT IN cut in step", "rules/semijoin.py", "None if plan.null_aware else in_step", "in_step"),
    Mutant(
        "semi-join with a witness keeps rows aligned",
        "rules/semijoin.py",
        "return replace(kept, level=Level.SUBSET, determined={})",
        "return kept",
    ),
    Mutant(
        "null-supplying side cut",
        "rules/join.py",
        "    if shared is None:\n",
        "    shared = shared or frozenset()\n    if shared is None:\n",
    ),
    Mutant("join condition on bounded values", "rules/join.py", "if lowest is Level.BOUNDED:", "if False:"),
    Mutant("step by any pair", "rules/copartition.py", "if pair and pair & lefts and pair & rights:", "if pair:"),
    Mutant(
        "step by two sets",
        "rules/copartition.py",
        "return len({setting.assignment.set_of(each) for each in occurrences}) == 1",
        "return True",
    ),
    Mutant("cut scalar subquery", "rules/scalar.py", "if subquery.level is not Level.FREE:", "if False:"),
    Mutant(
        "bounded correlation", "rules/scalar.py", "bounds = dict(child.bounds) if exact else", "bounds = dict(child.bounds) if True else"
    ),
    Mutant("filter over bounded values", "rules/filter.py", "if refused is not None:", "if False:"),
    Mutant("filter over a top-k", "rules/filter.py", "if failed is not None:", "if failed is not None and child.level is Level.FAIL:"),
    Mutant(
        "cut right side of EXCEPT",
        "rules/setoperation.py",
        "if plan.kind is SetKind.EXCEPT and right.level is not Level.FREE:",
        "if False:",
    ),
    Mutant("window over part of a partition", "rules/window.py", "all(_is_whole(", "any(True or _is_whole("),
    Mutant("pin that covers nothing", "derive.py", "Needs(pins=(step.plan,))", "Needs()"),
    Mutant("relaxed capture of the answer alone", "derive.py", "lower = Step(covered,", "lower = Step(plan,"),
    Mutant(
        "difference of signs",
        "intervals.py",
        "return _sum(interval_of(expression.left, known), _negated(",
        "return _sum(interval_of(expression.left, known), (",
    ),
    Mutant("missing ELSE branch", "intervals.py", "return branches if default is None else [*branches, default]", "return branches"),
    Mutant(
        "provenance lies where the keys lie",
        "cuts.py",
        "if verdict.is_safe and (is_equal or verdict.has_whole_groups(index)):",
        "if verdict.is_safe:",
    ),
)
