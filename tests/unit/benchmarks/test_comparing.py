"""What may differ between right answers, and what may not."""

from __future__ import annotations

from decimal import Decimal

import pytest

from benchmarks.comparing import alike, up_to_ties
from benchmarks.harness import Rows

ORDERED: Rows = [(1, "a", 5), (2, "b", 4), (3, "c", 4)]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([(1, 0.1 + 0.2)], [(1, 0.3)], True),
        ([(1, 0.3001)], [(1, 0.3)], False),
        ([(1, Decimal("0.333333"))], [(1, 1 / 3)], True),
        ([(1, Decimal("0.333343"))], [(1, 1 / 3)], False),
        ([(1, Decimal("1.00"))], [(1, Decimal("1.01"))], False),
        # Of one engine types are its answer too.
        ([(1,)], [(Decimal(1),)], False),
        ([(1, None), (1, 2.0)], [(1, 2.0), (1, None)], True),
        ([(1,), (1,)], [(1,)], False),
        ([(float("nan"),)], [(float("nan"),)], True),
        ([(2, 0.5), (1, 0.5000000001)], [(1, 0.5), (2, 0.5)], True),
    ],
)
def test_bags_of_rows_are_compared(one: Rows, other: Rows, expected: bool) -> None:
    assert alike(one, other) is expected
    assert alike(other, one) is expected


@pytest.mark.parametrize(
    ("other", "limit", "expected"),
    [
        (ORDERED, 3, True),
        ([(1, "a", 5), (3, "c", 4), (2, "b", 4)], 3, True),
        # Another row that ties may stand where the limit ends, but nowhere else.
        ([(1, "a", 5), (2, "b", 4), (9, "z", 4)], 3, True),
        ([(1, "a", 5), (2, "b", 4), (9, "z", 4)], None, False),
        ([(9, "z", 5), (2, "b", 4), (3, "c", 4)], 3, False),
        ([(2, "b", 4), (1, "a", 5), (3, "c", 4)], 3, False),
        ([(1, "a", 5), (2, "b", 4)], 3, False),
        ([(1, "a", 5), (2, "b", 4), (9, "z", 4)], 4, False),
    ],
)
def test_rows_that_tie_at_the_end_may_be_others(other: Rows, limit: int | None, expected: bool) -> None:
    assert up_to_ties((2,), limit)(ORDERED, other) is expected


def test_an_answer_without_rows_is_one() -> None:
    assert up_to_ties((0,), 10)([], [])
    assert not up_to_ties((0,), 10)([], [(1,)])
