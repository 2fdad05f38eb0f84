"""Steps of incremental views, each turned wrong; the attack on them must find every one."""

from __future__ import annotations

from tests.soundness.mutants import Mutant

VIEW_MUTANTS = (
    Mutant(
        "rows that no key finds are those of before",
        "../dataflow/partners.py",
        "return Arrangement(operator.every(inputs, is_new=is_new)).rows(own, values)",
        "return Arrangement(operator.every(inputs, is_new=False)).rows(own, values)",
    ),
    Mutant(
        "a refused view is there",
        "../commands/views.py",
        "            self._drop(other.name if held is None else held.name, execution)",
        "            pass",
    ),
)
