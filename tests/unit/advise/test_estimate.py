"""Shares of a clustered table: exact for known groups, within the theory's errors for sampled ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from imp_driver.advise.estimate import PIECES, Unseen, share_at, shares
from imp_driver.advise.sample import DRAWN_ROWS, DrawnGroups, Sample, estimated_shares, fraction_for, sample_sql
from imp_driver.dataflow.bounds.condition import evaluate
from imp_driver.plan.bind import BoundBlock, bind
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import analysis_of

SCHEMA = (SchemaColumn("g", "integer", True), SchemaColumn("h", "integer", True), SchemaColumn("x", "long", True))
Floats = npt.NDArray[np.float64]


def _block(text: str, parameters: tuple[object, ...] = ()) -> BoundBlock:
    analysis = analysis_of(text, SCHEMA)
    return bind(analysis.block, parameters, analysis.columns)


def _touched(values: list[int | None], rows: list[int], passes: list[bool], pieces: int) -> float:
    """Lay out every row in order, cut into equal pieces, and look which hold a value of a passing group."""
    kept = {value for value, is_kept in zip(values, passes, strict=True) if is_kept}
    layout = sorted((value for value, count in zip(values, rows, strict=True) for _ in range(count)), key=lambda v: (v is not None, v or 0))
    size = len(layout) / pieces
    touched = {piece for piece in range(pieces) for row in range(len(layout)) if layout[row] in kept and _meets(row, piece, size)}
    return len(touched) / pieces


def _meets(row: int, piece: int, size: float) -> bool:
    return row < (piece + 1) * size - 1e-9 and row + 1 > piece * size + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_shares_are_those_of_a_layout_row_by_row(seed: int) -> None:
    chance = np.random.default_rng(seed)
    values = [None if chance.random() < 0.1 else int(chance.integers(0, 12)) for _ in range(20)]
    rows = chance.integers(1, 9, 20).tolist()
    passes = (chance.random(20) < 0.2).tolist()
    found = shares(pa.array(values, pa.int32()), np.array(rows, np.float64), [np.array(passes)])
    for pieces, share in zip(PIECES[:7], found, strict=False):
        assert share == pytest.approx(_touched(values, rows, passes, pieces))


def test_shares_of_several_cases_are_their_mean() -> None:
    values, rows = pa.array(["a", "b", "c", "d"]), np.ones(4)
    one, both = np.array([True, False, False, False]), np.array([True, False, False, True])
    assert share_at(shares(values, rows, [one, both]), 4) == pytest.approx((1 / 4 + 2 / 4) / 2)
    assert shares(values, np.zeros(4), [one]) == (0.0,) * len(PIECES)
    assert share_at(shares(values, rows, [one], Unseen(10, 0.5)), 4) == pytest.approx(1 - 3 / 4 * (3 / 4) ** 5)


@pytest.mark.parametrize(("files", "power"), [(0, 0), (1, 0), (3, 1), (4, 2), (5000, 12), (10**6, 12)])
def test_a_number_of_files_in_between_has_the_larger_share(files: int, power: int) -> None:
    known = tuple(1 / pieces for pieces in PIECES)
    assert share_at(known, files) == known[power]


def test_small_tables_are_not_sampled() -> None:
    assert [fraction_for(None), fraction_for(10), fraction_for(4_000_000)] == [1.0, 1.0, 0.25]


def test_sample_query_reads_one_version_and_draws_from_each_group() -> None:
    block = _block("SELECT g FROM t WHERE x > 5 GROUP BY g, h HAVING sum(x) > 1 AND max(h) > 2 AND count(*) > 3")
    text = sample_sql(block, ("s", "t"), 4, 0.25)
    assert "`s`.`t` VERSION AS OF 4 TABLESAMPLE (25.00000000 PERCENT) REPEATABLE" in text
    assert f"WHERE place <= {DRAWN_ROWS} GROUP BY key_0, key_1" in text
    assert "TABLESAMPLE" not in sample_sql(block, ("t",), 4, 1.0)


Rows = dict[int, Floats]


def _sample(table: Rows, fraction: float, drawn: int, keep: Callable[[Floats], npt.NDArray[np.bool_]], chance: Any) -> Sample:
    """Sample in plain numpy as the query does in Spark, for ``sum(x)``, ``avg(x)`` and ``count(x)`` under a condition on x."""
    columns: dict[str, list[float]] = {name: [] for name in ("key", "sampled", "drawn", "matching", "count", "mean", "variance")}
    for key, values in table.items():
        first = values[chance.random(len(values)) < fraction]
        if not len(first):
            continue
        second = chance.permutation(first)[:drawn]
        matching = second[keep(second)]
        mean, variance = (matching.mean(), matching.var()) if len(matching) else (0.0, 0.0)
        row = (key, len(first), len(second), len(matching), len(matching), mean, variance)
        for name, value in zip(columns, row, strict=True):
            columns[name].append(value)
    moments = {f"aggregate_{index}_{part}": columns[part] for index in range(3) for part in ("count", "mean", "variance")}
    counts = {name: columns[name] for name in ("sampled", "drawn", "matching")}
    block = _block("SELECT g FROM t GROUP BY g HAVING sum(x) > 1 AND avg(x) > 1 AND count(x) > 1")
    return Sample(
        (pa.array(columns["key"], pa.float64()).cast(pa.int32()),),
        tuple(aggregate.specification for aggregate in block.aggregates),
        pa.table({**counts, **moments}),
        fraction,
    )


def _table(seed: int, groups: int = 200, rows: int = 400) -> tuple[Rows, Any]:
    chance = np.random.default_rng(seed)
    return {group: np.rint(chance.normal(group, 20, rows)) for group in range(groups)}, chance


@pytest.mark.parametrize(("fraction", "drawn"), [(1.0, 50), (0.3, 1000), (0.4, 60)])
def test_estimates_have_the_variance_they_claim(fraction: float, drawn: int) -> None:
    """z-scores over 200 groups: their mean is within 5 standard errors of 0, their mean square within 5 of 1 (normal: variance 2)."""
    table, chance = _table(3)
    sample = _sample(table, fraction, drawn, lambda values: values % 3 != 0, chance)
    kept = {key: values[values % 3 != 0] for key, values in table.items()}
    truths = (
        (sample.sum("aggregate_0"), [values.sum() for values in kept.values()]),
        (sample.average("aggregate_1"), [values.mean() for values in kept.values()]),
        (sample.proportion("aggregate_2_count"), [len(values) for values in kept.values()]),
    )
    for (estimate, variance), truth in truths:
        scores = (estimate - np.array(truth)) / np.sqrt(variance)
        assert abs(scores.mean()) < 5 / math.sqrt(len(scores))
        # Estimated variances add spread of their own: a few per cent at these sizes.
        assert abs(np.mean(scores**2) - 1) < 5 * math.sqrt(2 / len(scores)) + 0.1


def test_a_sample_of_everything_is_exact() -> None:
    table, chance = _table(5)
    sample = _sample(table, 1.0, 10_000, lambda values: values > 50, chance)
    for text in ("sum(x) > 60000", "avg(x) BETWEEN 90 AND 95", "count(x) > 390 AND avg(x) < 150", "count(*) = 400"):
        block = _block(f"SELECT g FROM t WHERE x > 50 GROUP BY g HAVING {text}")
        aggregates = tuple(aggregate.specification for aggregate in block.aggregates)
        # Aggregate i of the sample is the one of the block's own kind.
        names = {"SUM_INTEGER": 0, "SUM_LONG": 0, "AVERAGE_INTEGER": 1, "COUNT": 2, "COUNT_ROWS": 0}
        columns = {name: sample.columns.column(name) for name in ("sampled", "drawn", "matching")}
        for index, each in enumerate(aggregates):
            for part in ("count", "mean", "variance"):
                columns[f"aggregate_{index}_{part}"] = sample.columns.column(f"aggregate_{names[each.kind.name]}_{part}")
        own = Sample(sample.keys, aggregates, pa.table(columns), 1.0)
        kept = {key: values[values > 50] for key, values in table.items()}
        passes = np.array([len(v) > 0 and _passes(text, v) for v in kept.values()])
        expected = shares(pa.array(list(table), pa.int32()), np.full(len(table), 400.0), [passes])
        assert estimated_shares(own, block, (0,)) == {0: pytest.approx(expected)}
        assert 0 < passes.sum() < len(passes)


def _passes(text: str, values: Floats) -> bool:
    names = {"sum": values.sum(), "avg": values.mean(), "count": len(values)}
    match text.split("(")[0], text:
        case _, "avg(x) BETWEEN 90 AND 95":
            return bool(90 <= names["avg"] <= 95)
        case _, "count(x) > 390 AND avg(x) < 150":
            return bool(names["count"] > 390 and names["avg"] < 150)
        case _, "count(*) = 400":
            return bool(names["count"] == 400)
        case _:
            return bool(names["sum"] > 60000)


@pytest.mark.parametrize("threshold", [120.0, 150.0, 180.0])
def test_expected_share_of_a_sample_is_near_the_true_one(threshold: float) -> None:
    table, chance = _table(11)
    block = _block("SELECT g FROM t GROUP BY g HAVING avg(x) > ?", (threshold,))
    whole = _sample(table, 0.4, 60, lambda values: values > -math.inf, chance)
    columns = {name: whole.columns.column(name) for name in ("sampled", "drawn", "matching")}
    columns |= {f"aggregate_0_{part}": whole.columns.column(f"aggregate_1_{part}") for part in ("count", "mean", "variance")}
    sample = Sample(whole.keys, tuple(each.specification for each in block.aggregates), pa.table(columns), 0.4)
    passes = np.array([values.mean() > threshold for values in table.values()])
    truth = shares(pa.array(list(table), pa.int32()), np.full(len(table), 400.0), [passes])
    found = estimated_shares(sample, block, (0,))[0]
    # A mean of 60 draws is off by 20 / sqrt(60) = 2.6, groups are 1 apart: within 5 of these 13 of the 200 groups may be on the wrong side.
    assert share_at(found, 256) == pytest.approx(share_at(truth, 256), abs=13 / 200)
    assert estimated_shares(sample, block, (0,))[0] == found


def test_missed_groups_are_counted_from_those_met_once_and_twice() -> None:
    chance = np.random.default_rng(2)
    table = {group: np.full(3, 1.0) for group in range(4000)}
    sample = _sample(table, 0.2, 100, lambda values: values > 0, chance)
    missed = 4000 - len(sample.keys[0])
    # For groups of m equal rows Chao's estimator expects m / (m - 1) of what is missed; it is exact for large m.
    assert sample.unseen_groups() == pytest.approx(missed * 1.5, rel=0.15)


def test_draws_know_null_aggregates_and_groups_without_rows() -> None:
    columns = {"sampled": [4, 4, 4], "drawn": [4, 4, 4], "matching": [4, 4, 0]}
    columns |= {"aggregate_0_count": [4, 0, 0]}
    table = pa.table({**columns, "aggregate_0_mean": [1.0, None, None], "aggregate_0_variance": [0.0, None, None]})
    block = _block("SELECT g FROM t WHERE h > 1 GROUP BY g HAVING sum(x) > 3")
    sample = Sample((pa.array([1, None, 3], pa.int32()),), tuple(each.specification for each in block.aggregates), table, 1.0)
    groups = DrawnGroups(sample, np.random.default_rng(0))
    assert groups.alive.tolist() == [True, True, False]
    assert block.condition is not None
    assert evaluate(block.condition, groups).may_be_true.tolist() == [True, False, False]
    assert evaluate(block.condition, groups).may_be_null.tolist() == [False, True, True]
