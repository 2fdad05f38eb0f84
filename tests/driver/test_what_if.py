"""What queries would say after changes that nobody makes, without a JVM, and the proof that this finds wrong steps.

IMP_WIDE=1 tries many more.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from imp_driver.reasons import ServedBy
from tests.seeds import SEED, WIDE
from tests.soundness.killers import problems
from tests.soundness.supposed_attack import attack
from tests.soundness.supposed_mutants import SUPPOSED_MUTANTS


@pytest.mark.parametrize("seed", [0, SEED + 1])
def test_rows_are_those_of_tables_where_the_changes_are_made(seed: int, record_property: Callable[[str, object], None]) -> None:
    tally = attack(seed, range(400 if WIDE else 3))
    record_property("cases", tally.served.total())
    assert tally.differences == []
    assert tally.served[ServedBy.STATE] > 20


def test_every_wrong_step_is_found() -> None:
    assert problems(SUPPOSED_MUTANTS) == []
