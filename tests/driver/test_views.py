"""Incremental views over random tables and over each other, without a JVM, and the proof that this finds wrong steps.

IMP_WIDE=1 tries many more.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from imp_driver.reasons import Decision, ServedBy
from tests.seeds import SEED, WIDE
from tests.soundness.killers import problems
from tests.soundness.view_attack import attack
from tests.soundness.view_mutants import VIEW_MUTANTS


@pytest.mark.parametrize("seed", [0, SEED + 1])
def test_rows_are_those_of_the_query(seed: int, record_property: Callable[[str, object], None]) -> None:
    tally = attack(seed, range(2000 if WIDE else 8))
    record_property("cases", tally.served.total())
    assert tally.differences == []
    assert tally.served[ServedBy.STATE] > 100
    assert tally.decisions[Decision.MAINTAINED] > 40
    assert tally.layers > 8


def test_every_wrong_step_is_found() -> None:
    assert problems(VIEW_MUTANTS) == []
