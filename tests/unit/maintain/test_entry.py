"""A state whose sketches keep almost everything is brought up to date ever more rarely."""

from __future__ import annotations

from imp_driver.maintain.entry import LONGEST_REST, PATIENCE, StateEntry


def _rests(entry: StateEntry) -> int:
    """Return how many queries in a row are answered without maintenance."""
    count = 0
    while entry.rests():
        count += 1
    return count


def test_rests_grow_with_every_useless_sketch_and_end_with_a_useful_one() -> None:
    entry = StateEntry("id", "key", "template", "text", "t", "/t", "g")
    found = []
    for useless in range(PATIENCE + 9):
        entry.useless = useless
        found.append(_rests(entry))
    assert found == [0] * PATIENCE + [1, 2, 4, 8, 16, 32, 64, LONGEST_REST, LONGEST_REST]
    entry.useless = 0
    assert _rests(entry) == 0
