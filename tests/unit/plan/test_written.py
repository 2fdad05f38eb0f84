"""Blocks as texts and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pyarrow as pa
import pytest
import sqlglot

from imp_driver.parse.statement import DIALECT
from imp_driver.plan.bind import BoundBlock, all_groups, bind
from imp_driver.plan.groupings import groupings
from imp_driver.plan.resolve import resolve
from imp_driver.plan.written import block_of, written_block
from imp_driver.safety.analysis import analysed_groups
from tests.soundness.tables import Catalog

TEXTS = [
    "SELECT g, sum(a) AS s, avg(a) AS m, count(*) AS n FROM r GROUP BY g",
    "SELECT g + 1 AS k, CASE WHEN x > 2 THEN 'a' END AS c, min(a), max(a + x), count(DISTINCT x) FROM r "
    "WHERE a > 3 AND x IN (1, 2) GROUP BY 1, 2",
    "SELECT count(*), percentile(a, 0.25), percentile_disc(0.5) WITHIN GROUP (ORDER BY a DESC), stddev(x) FROM r WHERE g IS NULL",
    "SELECT r.g, t.y, sum(t.b), count(t.k) FROM r JOIN s AS t ON r.g = t.k WHERE t.b > r.a GROUP BY r.g, t.y",
]


def _bound(text: str) -> tuple[BoundBlock, Mapping[str, pa.DataType | None]]:
    (found,) = groupings(resolve(sqlglot.parse_one(text, read=DIALECT), Catalog()))
    analysis = analysed_groups(found.block)
    return bind(analysis.block, None, analysis.columns), analysis.columns


@pytest.mark.parametrize("text", TEXTS)
def test_a_block_is_read_back(text: str) -> None:
    block, columns = _bound(text)
    written = written_block(block)
    assert written is not None
    found = block_of(written, block, columns)
    assert found is not None
    expected = dataclasses.replace(all_groups(block), outputs=())
    for name in ("keys_sql", "keys", "where_sql", "where", "where_texts", "aggregates", "limit", "having"):
        assert getattr(found, name) == getattr(expected, name), name
    assert set(found.columns) == set(expected.columns)
    assert [each.sql() for each in found.key_nodes] == [each.sql() for each in expected.key_nodes]


def test_what_cannot_be_read_is_no_block() -> None:
    block, columns = _bound(TEXTS[0])
    written = written_block(block)
    assert written is not None
    wrong = dataclasses.replace(written.aggregates[0], kind="NONE")
    for other in (dataclasses.replace(written, keys=("`g",)), dataclasses.replace(written, aggregates=(wrong,))):
        assert block_of(other, block, columns) is None
