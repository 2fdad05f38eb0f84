"""Random recursions under changes, against slow readings of them; wrong steps are found in ``test_answers``. IMP_WIDE=1 tries 20,000."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.seeds import SEED, WIDE
from tests.soundness.recursion_attack import attack


@pytest.mark.parametrize("seed", [0, SEED])
def test_rows_are_those_of_a_slow_reading_after_each_change(seed: int, record_property: Callable[[str, object], None]) -> None:
    tally = attack(seed, range(10_000 if WIDE else 25))
    record_property("cases", tally.kinds.total())
    assert not tally.differences, tally.differences[0]
    assert min(tally.kinds[each] for each in ("levels", "ties", "best", "expiry")) >= 5
    assert tally.refused < tally.kinds["best"] / 4
