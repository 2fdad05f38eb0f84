"""Nothing is decided by a sum of doubles that may be on either side."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import sqlglot

from imp_driver.answer.finish import Finish
from imp_driver.answer.rounding import with_spreads
from imp_driver.dataflow.expression.arithmetic import NotEvaluable
from imp_driver.plan.groupings import groupings
from imp_driver.plan.resolve import resolve
from tests.unit.answer.test_finish import Tables

GROUPS = "(SELECT g, sum(CAST(x AS DOUBLE)) AS s FROM q GROUP BY g)"


def finished(text: str, *, may_round: bool = True, spread: float = 1e-9) -> list[tuple[object, ...]]:
    """Return the rows of a query over three sums, each known within the spread."""
    plan = resolve(sqlglot.parse_one(text, read="spark"), Tables(), keeps_order=True)
    rows = {}
    for grouping in groupings(plan):
        names = [attribute.identifier for attribute in grouping.aggregate.output]
        table = pa.table([pa.array([1, 2, 3], pa.int32()), pa.array([0.5, 2.0, None])], names=names)
        rows[names[0]] = with_spreads(table, {names[1]: np.array([spread, spread, 0.0])})
    found = Finish(rows, may_round=may_round).answer(plan)
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"SELECT g, s FROM {GROUPS}", [(1, 0.5), (2, 2.0), (3, None)]),
        (f"SELECT g FROM {GROUPS} WHERE s > 1", [(2,)]),
        (f"SELECT g FROM {GROUPS} WHERE s > 1 OR s IS NULL", [(2,), (3,)]),
        (f"SELECT g FROM {GROUPS} WHERE s BETWEEN 0.1 AND 0.75", [(1,)]),
        (f"SELECT g, s + 1 AS t FROM {GROUPS} ORDER BY s DESC LIMIT 1", [(2, 3.0)]),
        (f"SELECT g, CASE WHEN s > 1 THEN 'much' ELSE 'little' END AS c FROM {GROUPS}", [(1, "little"), (2, "much"), (3, "little")]),
        (f"SELECT count(s), max(g) FROM {GROUPS}", [(2, 3)]),
        (f"SELECT sum(s) AS t FROM {GROUPS}", [(2.5,)]),
        (f"SELECT g FROM {GROUPS} WHERE g > 1 ORDER BY g LIMIT 1", [(2,)]),
        (f"SELECT s FROM {GROUPS} UNION ALL SELECT 1.5D AS s FROM {GROUPS} WHERE g = 1", [(0.5,), (2.0,), (None,), (1.5,)]),
    ],
)
def test_what_is_the_same_for_all_values_within_the_spread_is_computed(text: str, expected: list[tuple[object, ...]]) -> None:
    assert finished(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT g FROM {GROUPS} WHERE s > 2",
        f"SELECT g FROM {GROUPS} WHERE NOT (s < 0.5 OR g = 7)",
        f"SELECT g FROM {GROUPS} WHERE abs(s) > 100",
        f"SELECT g FROM {GROUPS} WHERE s IN (7, 8)",
        f"SELECT DISTINCT s FROM {GROUPS}",
        f"SELECT count(DISTINCT s) FROM {GROUPS}",
        f"SELECT s, count(*) AS n FROM {GROUPS} GROUP BY s",
        f"SELECT sum(s) AS t FROM {GROUPS} HAVING sum(s) > 0",
        f"SELECT u.g FROM {GROUPS} u JOIN {GROUPS} v ON u.s = v.s",
        f"SELECT g FROM {GROUPS} WHERE s IN (SELECT s FROM {GROUPS})",
        f"SELECT g, s FROM {GROUPS} EXCEPT SELECT g, s FROM {GROUPS} WHERE g = 1",
        f"SELECT g, CASE WHEN s >= 2 THEN 1 ELSE 0 END AS c FROM {GROUPS}",
        f"SELECT g, sum(CASE WHEN s >= 2 THEN 1 ELSE 0 END) AS c FROM {GROUPS} GROUP BY g",
    ],
)
def test_what_may_be_either_is_left_to_spark(text: str) -> None:
    with pytest.raises(NotEvaluable, match=r"sums? of doubles"):
        finished(text)


def test_neighbours_at_the_end_of_a_limit_must_be_apart() -> None:
    text = f"SELECT g FROM {GROUPS} ORDER BY s DESC LIMIT 1"
    assert finished(text, spread=0.7) == [(2,)]
    with pytest.raises(NotEvaluable, match="too near"):
        finished(text, spread=0.8)
    # After the last value comes NULL, whatever the values are.
    assert finished(f"SELECT g FROM {GROUPS} ORDER BY s DESC LIMIT 2", spread=0.8) == [(2,), (1,)]


def test_rounded_sums_are_left_to_spark_where_that_is_asked_for() -> None:
    assert finished(f"SELECT g FROM {GROUPS} WHERE s > 1", may_round=False) == [(2,)]
    with pytest.raises(NotEvaluable, match="option floats"):
        finished(f"SELECT g, s FROM {GROUPS}", may_round=False)
