"""All pairs of features of the grammar meet in queries whose sketch is used, and no answer differs. IMP_WIDE=1 tries many more cases."""

from __future__ import annotations

from collections.abc import Callable

from tests.pairs.grammar import every_interaction, why_out_of_reach
from tests.pairs.play import Reached, case_name, known_cases
from tests.seeds import SEED, WIDE

Recorder = Callable[[str, object], None]


def test_every_interaction_that_can_be_reached_is_reached(record_property: Recorder) -> None:
    """By cases that are known to reach them; ``python -m tests.pairs.play`` searches others where the driver has changed."""
    found = Reached()
    for case in known_cases():
        found.play(case)
    record_property("cases", found.tried)
    assert found.differences == []
    assert [each for each in every_interaction() if each not in found.interactions and why_out_of_reach(each) is None] == []


def test_pairs_of_today(record_property: Recorder) -> None:
    found = Reached()
    for number in range(20_000 if WIDE else 100):
        found.play(case_name(SEED, number))
    record_property("cases", found.tried)
    assert found.differences == []
    assert found.used > found.tried // 4
    # What counts as out of reach is.
    assert [each for each in found.interactions if why_out_of_reach(each) is not None] == []
