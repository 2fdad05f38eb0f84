"""Operators above groups, each turned wrong; the attack on answers must find every one."""

from __future__ import annotations

from tests.soundness.mutants import Mutant

_JOIN, _COMBINE, _FINISH = "../answer/join.py", "../answer/combine.py", "../answer/finish.py"
_KEYS = "../dataflow/sort_keys.py"
_REGROUP, _CODES = "../answer/regroup.py", "../dataflow/ranks.py"
ANSWER_MUTANTS = (
    Mutant("NULLs always first", _KEYS, "-1 if key.nulls_first else 1, 0", "-1, 0"),
    Mutant("always ascending", _KEYS, "~_codes(key.values) if key.descending else _codes(key.values)", "_codes(key.values)"),
    Mutant("ties are decided", _FINISH, "if not may_tie and any(", "if False and any("),
    Mutant("ties are decided where rows begin", _FINISH, "for place in (skipped, skipped + count)", "for place in (skipped + count,)"),
    Mutant("nothing is skipped", _FINISH, "places[skipped : skipped + count]", "places[0:count]"),
    Mutant("a scalar of no rows", _FINISH, "else pa.scalar(None, kind)", "else pa.scalar(0, kind)"),
    Mutant(
        "equality is enough",
        _JOIN,
        "passed &= _truth(rows, conjunct).fill_null(False)",
        "passed |= _truth(rows, conjunct).fill_null(False)",
    ),
    Mutant("left join drops rows", _JOIN, "if plan.kind in (JoinKind.LEFT, JoinKind.FULL):", "if plan.kind is JoinKind.FULL:"),
    Mutant("full join drops rows", _JOIN, "    if plan.kind is JoinKind.FULL:", "    if plan.kind is None:"),
    Mutant("NOT IN overlooks NULL", _JOIN, "fill_null(True)", "fill_null(False)"),
    Mutant("NOT EXISTS minds NULL", _JOIN, "    if not plan.null_aware:", "    if False:"),
    Mutant(
        "a semi-join multiplies",
        _JOIN,
        "left.filter(pa.array(_among(left.num_rows, _pairs(plan.conjuncts, left, right).left)))",
        "left.take(pa.array(_pairs(plan.conjuncts, left, right).left))",
    ),
    Mutant("copies are not counted", _COMBINE, "_occurrence(own) < copies[own]", "copies[own] > 0"),
    Mutant("INTERSECT is EXCEPT", _COMBINE, "is_there if plan.kind is SetKind.INTERSECT else ~is_there", "~is_there"),
    Mutant("DISTINCT keeps copies", _COMBINE, "return rows.take(pa.array(first_of_each(_numbers(rows))))", "return rows"),
    Mutant("NULL is the least value", _CODES, "numbers * many + own + 1", "numbers * many + np.maximum(own, 0) + 1"),
    Mutant("no row of nothing", _REGROUP, "if not has_keys and not found.rows.num_rows:", "if not has_keys and found.rows.num_rows:"),
    Mutant("counts of nothing are NULL", _REGROUP, "0 if specification.kind in _COUNTS else None", "None"),
)
