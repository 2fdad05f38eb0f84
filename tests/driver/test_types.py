"""The whole driver on random queries over columns of many types and random changes of their Delta tables, without a JVM."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from imp_driver.reasons import Reason, ServedBy
from tests.seeds import SEED, WIDE
from tests.soundness.typed_attack import TypedTally, attack_types


@pytest.mark.parametrize(("seed", "numbers"), [(0, range(400 if WIDE else 8)), (SEED, range(100 if WIDE else 2))])
def test_answers_are_those_of_the_plain_query(seed: int, numbers: range, record_property: Callable[[str, object], None]) -> None:
    tally = TypedTally()
    for number in numbers:
        attack_types(seed, number, tally)
        assert tally.differences == [], number
    record_property("cases", tally.served_by.total())
    # A third is asked for the first time, and captured for what comes.
    assert tally.served_by[ServedBy.STATE] > tally.served_by.total() / 2
    if seed == 0:
        assert tally.reasons[Reason.LIFT_NEEDED] > 10
