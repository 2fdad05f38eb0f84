"""A relation whose sketches keep almost everything is brought up to date ever more rarely."""

from __future__ import annotations

from imp_driver.state.costs import LONGEST_REST, PATIENCE, Costs


def _rests(costs: Costs) -> int:
    """Return how many queries in a row are answered without maintenance."""
    count = 0
    while costs.rests():
        count += 1
    return count


def test_rests_grow_with_every_useless_sketch_and_end_with_a_useful_one() -> None:
    costs = Costs()
    found = [_rests(costs)]
    for _ in range(PATIENCE + 8):
        costs.note_use(is_useful=False)
        found.append(_rests(costs))
    assert found == [0] * PATIENCE + [1, 2, 4, 8, 16, 32, 64, LONGEST_REST, LONGEST_REST]
    costs.note_use(is_useful=True)
    assert _rests(costs) == 0
