"""Texts that mutants change are still in their files, each once: else a rule would be thought to be tested that no longer stands there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.operators.frontier_mutants import FRONTIER_MUTANTS
from tests.operators.function_mutants import FUNCTION_MUTANTS
from tests.soundness.mutants import Mutant
from tests.soundness.mutated import MUTANT_OF

ROOT = Path(__file__).parents[2] / "imp_driver"


@pytest.mark.parametrize("mutant", [*MUTANT_OF.values(), *FRONTIER_MUTANTS, *FUNCTION_MUTANTS], ids=lambda mutant: mutant.name)
def test_a_rule_stands_once(mutant: Mutant) -> None:
    assert (ROOT / "safety" / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1
    assert mutant.old != mutant.new
