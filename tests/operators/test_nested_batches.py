"""Batches of many rows, with NULL in every place, and single rows between them: the results are those of all rows that are there."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.nested.queries import MST, SQ1B, VWAP, broker, price, volume
from imp_driver.dataflow.nested.description import Comparison, Condition, Constant, Correlation, Inner, Measure, Row, Selection
from imp_driver.dataflow.nested.maintained import maintained
from tests.operators.nested_twin import selected

_FEW_ARE_CHEAPER = Condition(Constant(3), Comparison.GREATER, Inner("bids", Measure.COUNT, correlation=Correlation(price, Comparison.LESS)))
"""Holds for a row without a price too: it has none below."""
SELECTIONS = {
    "without a key": replace(VWAP, values=(volume,), conditions=(_FEW_ARE_CHEAPER,)),
    "whole": VWAP,
    "groups": replace(MST.sides[1], group=broker),
    "partitions": SQ1B,
    "both": replace(SQ1B, group=price),
}
ROWS = 12
"""Of a batch, beyond what is followed row by row."""


def drawn(chance: random.Random) -> Row:
    return (0, 0, *(None if chance.random() < 0.15 else chance.randrange(1, most) for most in (4, 9, 30)))


@pytest.mark.parametrize("name", SELECTIONS)
@pytest.mark.parametrize("seed", range(4))
def test_batches_and_single_rows(name: str, seed: int) -> None:
    selection: Selection = SELECTIONS[name]
    chance, rows, operator = random.Random(seed), list[Row](), maintained(selection)
    for step in range(60):
        batch = list[tuple[Any, int]]()
        for _ in range(ROWS if step % 5 == 0 else 1):
            is_new = not rows or chance.random() < 0.6
            row = drawn(chance) if is_new else rows.pop(chance.randrange(len(rows)))
            batch.append((row, 1 if is_new else -1))
            rows += [row] if is_new else []
        operator.apply({selection.relation: batch})
        assert operator.results() == selected(selection, {selection.relation: rows})
