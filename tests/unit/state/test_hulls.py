"""Bounds hold all constants that were asked for, and move rarely."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from hypothesis import given
from hypothesis import strategies as st

from imp_driver.state.hulls import Hulls


def _tens(value: Fraction) -> Fraction:
    return Fraction(floor(value / 10) * 10)


def _next_tens(value: Fraction) -> Fraction:
    return Fraction(ceil(value / 10) * 10)


@given(st.lists(st.integers(-10_000, 10_000), min_size=1), st.booleans())
def test_a_bound_holds_all_values_until_it_moved_too_often(values: list[int], is_lower: bool) -> None:
    hulls = Hulls()
    outward = _tens if is_lower else _next_tens
    bounds = []
    for place, value in enumerate(values):
        bound = hulls.bound("", 0, Fraction(value), is_lower=is_lower, outward=outward)
        if bound is None:
            break
        assert all(bound <= each for each in values[: place + 1]) if is_lower else all(bound >= each for each in values[: place + 1])
        bounds.append(bound)
    # No bound moves back.
    assert bounds == sorted(bounds, reverse=is_lower)
    assert len(set(bounds)) <= 9


def test_a_bound_reaches_twice_as_far_each_time_it_moves() -> None:
    hulls = Hulls()

    def bound(value: int, place: int = 0) -> Fraction | None:
        return hulls.bound("", place, Fraction(value), is_lower=True, outward=_tens)

    assert [bound(each) for each in (57, 51, 58, 48, 41, 39, 31, 25)] == [50, 50, 50, 30, 30, 30, 30, -10]
    assert bound(25, place=1) == 20
    # There is an end to it.
    assert bound(-100) == -260
    assert [bound(-(10**power)) is None for power in range(3, 10)] == [False] * 5 + [True] * 2
    assert bound(58) is None
