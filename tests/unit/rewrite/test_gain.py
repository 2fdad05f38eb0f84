"""The estimate behind using a sketch: what is skipped counts against everything that the query reads."""

from __future__ import annotations

import pytest

from imp_driver.rewrite.gain import LEAST_GAIN, estimated_gain
from imp_driver.sketch.coverage import Coverage


def _gain(kept: int, rows_kept: float, runs: int = 1, query_bytes: int = 1000, own_share: float = 1.0) -> float:
    return estimated_gain(Coverage(0, 0, kept, 1000), rows_kept, runs, query_bytes, own_share)


def test_skipped_files_count_in_full_and_dropped_rows_in_half() -> None:
    assert _gain(100, 0.1) == pytest.approx(0.9 - 0.1 * 0.015)
    assert _gain(1000, 0.1) == pytest.approx(0.5 * 0.9 - 0.015)
    assert _gain(1000, 1.0) < 0


def test_many_ranges_must_save_more() -> None:
    assert _gain(1000, 0.8) > LEAST_GAIN > _gain(1000, 0.8, runs=16)
    assert _gain(1000, 0.01, runs=20) > LEAST_GAIN > _gain(1000, 0.4, runs=40)


def test_what_is_skipped_of_a_small_table_of_a_large_query_is_nothing() -> None:
    assert _gain(10, 0.01, query_bytes=100_000) < LEAST_GAIN


def test_files_that_the_query_skips_itself_are_no_gain() -> None:
    assert _gain(300, 1.0, own_share=0.3) < 0 < _gain(100, 0.3, own_share=0.3)
    assert _gain(100, 0.3, own_share=0.3) == pytest.approx((200 + 0.5 * 10 - 100 * 0.015) / 300)


@pytest.mark.parametrize("rows_kept", [0.0, 1.0])
def test_a_table_without_bytes(rows_kept: float) -> None:
    assert estimated_gain(Coverage(0, 0, 0, 0), rows_kept, 0, 0) == 0
