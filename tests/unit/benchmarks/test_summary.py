"""Statistics are those of the measurements, and captures are in the totals or not."""

from __future__ import annotations

import pytest

from benchmarks.records import Quantity, Stage
from benchmarks.summary import Summary, Totals, geometric_mean, percentile, summarize, totals
from tests.unit.benchmarks.making import case, series


def test_quartiles_lie_between_measurements() -> None:
    assert summarize([4.0, 1.0, 3.0, 2.0]) == Summary(4, 1.0, 1.75, 2.5, 3.25, 4.0)
    assert summarize([7.0]) == Summary(1, 7.0, 7.0, 7.0, 7.0, 7.0)


def test_nothing_cannot_be_summarized() -> None:
    with pytest.raises(ValueError, match="no measurements"):
        summarize([])


def test_percentiles_lie_between_measurements() -> None:
    values = [float(number) for number in range(101)]
    assert [percentile(values, share) for share in (50, 95, 99)] == [50.0, 95.0, 99.0]
    assert percentile([7.0], 99) == 7.0
    with pytest.raises(ValueError, match="no measurements"):
        percentile([], 50)


def test_a_geometric_mean_needs_all_its_numbers() -> None:
    assert geometric_mean([1.0, 100.0]) == pytest.approx(10.0)
    assert geometric_mean([1.0, None]) is None


def test_totals_have_all_captures_or_none() -> None:
    measured = case(
        series("IMP", Quantity.CAPTURE, 500.0, stage=Stage.COLD_START),
        series("IMP", Quantity.QUERY, 900.0, stage=Stage.COLD_START),
        series("IMP", Quantity.CAPTURE, 40.0, None, stage=Stage.WARM_UP),
        series("IMP", Quantity.QUERY, 100.0, 400.0, 100.0),
        series("IMP", Quantity.CAPTURE, None, 300.0, None),
        series("NS", Quantity.QUERY, 900.0, 900.0, 900.0),
    )
    assert totals([measured], "IMP") == Totals(with_captures=600.0 + 540.0, without_captures=300.0)
    assert totals([measured, measured], "NS") == Totals(5400.0, 5400.0)
