"""How many rows are worth a maintenance step, from steps of known cost."""

from __future__ import annotations

import pytest

from imp_driver.maintain.batch import LEAST_BATCH, MOST_BATCH, BatchCost


def _learnt(fixed: float, each: float, sizes: list[int]) -> int:
    cost = BatchCost()
    for rows in sizes:
        cost.learn(rows, fixed + each * rows)
    return cost.batch()


@pytest.mark.parametrize(
    ("fixed", "each", "batch"),
    [
        # 4 * fixed / each: the fixed part is then a fifth.
        (10.0, 0.02, 2_000),
        (10.0, 0.1, 400),
        (1.0, 0.5, LEAST_BATCH),
        (100.0, 0.001, MOST_BATCH),
        (10.0, 0.0, MOST_BATCH),
        (10.0, -0.01, MOST_BATCH),
        (0.0, 0.1, LEAST_BATCH),
    ],
)
def test_the_fixed_cost_is_a_small_share(fixed: float, each: float, batch: int) -> None:
    assert _learnt(fixed, each, [50, 100, 200, 400]) == pytest.approx(batch, abs=1)


def test_sizes_are_tried_until_they_differ() -> None:
    cost = BatchCost()
    tried = []
    for _ in range(3):
        tried.append(cost.batch())
        cost.learn(tried[-1], 10 + 0.02 * tried[-1])
    assert tried == [50, 100, 200]
    assert cost.batch() == pytest.approx(2_000, abs=1)
    assert _learnt(10.0, 0.02, [70, 70, 70, 70]) in (50, 100, 200)


def test_old_steps_fade() -> None:
    cost = BatchCost()
    for fixed in (10.0, 100.0):
        for step in range(60):
            cost.learn(50 + step, fixed + 0.1 * (50 + step))
    assert cost.batch() == pytest.approx(4_000, rel=0.05)
