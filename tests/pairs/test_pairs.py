"""All pairs of features of the grammar meet in queries whose sketch is used, and no answer differs. IMP_WIDE=1 tries many more cases."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.pairs import calculus, driver
from tests.pairs.cover import Attack, Reached, case_name
from tests.seeds import SEED, WIDE

Recorder = Callable[[str, object], None]
ATTACKS = (driver.ATTACK, calculus.ATTACK)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda each: each.name)
def test_every_interaction_that_can_be_reached_is_reached(attack: Attack, record_property: Recorder) -> None:
    """By cases that are known to reach them; ``python -m tests.pairs.cover`` searches others where the driver has changed."""
    found = Reached(attack)
    for case in attack.known_cases():
        found.play(case)
    record_property("cases", found.tried)
    assert found.differences == []
    assert found.missed() == []


@pytest.mark.parametrize("seed", [SEED])
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda each: each.name)
def test_pairs_of_today(attack: Attack, seed: int, record_property: Recorder) -> None:
    found = Reached(attack)
    for number in range(20_000 if WIDE else 100):
        found.play(case_name(seed, number))
    record_property("cases", found.tried)
    assert found.differences == []
    assert found.used > found.tried // 4
    # What counts as out of reach is.
    assert [each for each in found.interactions if attack.why_out_of_reach(each) is not None] == []
