"""Wrong versions of how a recursion that is kept elsewhere follows changes: random streams must find every one, or they prove nothing.

``python -m tests.operators.frontier_mutants`` prints the names of those that they do not find.
"""

from __future__ import annotations

from tests.operators.mutant_lives import print_unfound
from tests.soundness.mutants import Mutant

_FRONTIER = "../dataflow/recursion/frontier.py"
FRONTIER_MUTANTS = (
    Mutant("a row is kept from above", _FRONTIER, "found is not None and found <= level", "found is not None"),
    Mutant("what has left keeps others", _FRONTIER, "self._now(fact) if at is None", "self._before[fact] if at is None"),
    Mutant("what leaves is lost by nobody", _FRONTIER, "self._lose(self._kept.led_to(left))", "pass"),
    Mutant("what has left stays away", _FRONTIER, "[*self._of_left, *self._known(self._kept.won())]", "self._known(self._kept.won())"),
    Mutant("new given rows make none", _FRONTIER, "[*self._of_left, *self._known(self._kept.won())]", "self._of_left"),
    Mutant("new rows lead nowhere", _FRONTIER, "            if new:\n", "            if False:\n"),
    Mutant("lower rows lead nowhere", _FRONTIER, "is None or before > level]", "is None]"),
    Mutant("nothing returns by what returns", _FRONTIER, "for each in self._blocked.pop(fact, ())", "for each in ()"),
    Mutant("the last row tells the level", _FRONTIER, "highest = max(highest, level)", "highest = level"),
    Mutant("new rows meet kept ones alone", _FRONTIER, "self._kept.leads_to(new, more)", "self._kept.leads_to(new, ())"),
    Mutant("levels come in any order", _FRONTIER, "level = heappop(self._levels)", "level = self._levels.pop()"),
    Mutant("a lower level is none", _FRONTIER, "return own is None or own > level", "return own is None"),
    Mutant("what is gone takes nothing along", _FRONTIER, "self._lose(self._kept.lost())", "pass"),
)


def _differs() -> object:
    from tests.operators.frontier_cases import are_different

    return are_different()


if __name__ == "__main__":
    print_unfound(FRONTIER_MUTANTS, _differs)
