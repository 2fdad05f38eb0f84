"""Steps of recursions under changes, each turned wrong; the attack on them must find every one."""

from __future__ import annotations

from tests.soundness.mutants import Mutant

_LEVELS, _SETTLING = "../dataflow/recursion/levels.py", "../dataflow/recursion/settling.py"
_SELECTION, _BEST, _EXPIRY = "../dataflow/recursion/selection.py", "../plan/best.py", "../parse/expiry.py"
RECURSION_MUTANTS = (
    Mutant(
        "another level is taken before its turn",
        _LEVELS,
        "                else:\n                    self._wait(relation, {row: None}, entry[1])",
        "                else:\n                    after = entry[1]",
    ),
    Mutant("any derivation at its level keeps a row", _LEVELS, "or (level == entry[0] and not count):", "or False:"),
    Mutant("a derivation is counted once", _LEVELS, "count += entry[place + 1]", "count = max(count, 0)"),
    Mutant("what has left begins no more", _SETTLING, "self._gain_again(gaining, relation, keys)", "pass"),
    Mutant(
        "a cycle keeps itself alive",
        _SETTLING,
        "best = self._best(relation, keys, level)\n            keys = keys[best > level]",
        "best = self._best(relation, keys, ABSENT)\n            keys = keys[best == ABSENT]",
    ),
    Mutant("what leaves is lost by nobody", _SETTLING, "self._lose(losing, relation, keys, level)", "pass"),
    Mutant("a lower level is none", _SETTLING, "is_better = before > level", "is_better = before == ABSENT"),
    Mutant("of rows that tie one is all", _SELECTION, "        if rows[key]:\n            return\n", ""),
    Mutant("no other takes the place of the best", _SELECTION, "elif place < self.selection.most <= len(keys):", "elif False:"),
    Mutant("the best alone are best", _SELECTION, "bisect_left(found[0], key) < self.selection.most", "bisect_left(found[0], key) < 1"),
    Mutant(
        "a condition may read what is best", _BEST, "if self.measure.place in read and not self._is_bound(conjunct.unnest()):", "if False:"
    ),
    Mutant(
        "a step may turn the order",
        _BEST,
        "if measure.place in group or not all(step.keeps_order(is_strict=is_strict) for step in steps):",
        "if False:",
    ),
    Mutant("rows that tie are no more than their value", _BEST, "is_strict = not is_pruned", "is_strict = False"),
    Mutant("what else is read parts no groups", _BEST, "used = _read(others, own)", "used = _read(keys, own)"),
    Mutant("NULL has a place in every order", _BEST, "needs_values = any(step.has_extremes for step in steps)", "needs_values = False"),
    Mutant(
        "rows are there at their last moment",
        _EXPIRY,
        "return exp.GT(this=own, expression=exp.Sub(this=clock, expression=age))",
        "return exp.GTE(this=own, expression=exp.Sub(this=clock, expression=age))",
    ),
    Mutant("instants are there at their last moment", _EXPIRY, "return exp.GT(this=micros,", "return exp.GTE(this=micros,"),
)
