"""Row conditions as text: what comes back is what was written, or nothing."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
import sqlglot

from imp_driver.parse.statement import DIALECT
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.conditions import with_conditions, written_conditions

COLUMNS: dict[str, pa.DataType | None] = {"x": pa.int32(), "name": pa.string(), "day": pa.date32(), "odd`n": pa.float64()}
EMPTY = BoundBlock(None, (), (), (), None, None, (), (), (), (), None, ("g",))  # type: ignore[arg-type]


def _block(*texts: str) -> BoundBlock:
    return replace(EMPTY, where_nodes=tuple(sqlglot.parse_one(text, read=DIALECT) for text in texts))


@pytest.mark.parametrize(
    "texts",
    [
        (),
        ("`x` > 3",),
        ("`x` > 3", "`name` IN ('a', 'it''s')"),
        ("NOT `x` IS NULL", "`x` BETWEEN -1 AND 1.50"),
        ("`name` LIKE 'a%'", "(`x` = 1 OR `x` <=> 2)"),
        ("`day` >= CAST('2026-01-02' AS DATE)",),
        ("`odd``n` < 1e300",),
        ("CASE WHEN `x` > 1 THEN `name` ELSE 'none' END = 'b'",),
    ],
)
def test_conditions_come_back(texts: tuple[str, ...]) -> None:
    block = _block(*texts)
    written = written_conditions(block)
    assert written is not None
    found = with_conditions(EMPTY, written, COLUMNS)
    assert found is not None
    assert list(map(repr, found.where_nodes)) == list(map(repr, block.where_nodes))
    assert (found.where is None) is (texts == ())
    assert found.columns[0] == "g"
    assert written_conditions(found) == written


def test_text_that_is_no_condition_is_nothing() -> None:
    assert with_conditions(EMPTY, ("`x` >",), COLUMNS) is None


def test_a_condition_that_would_be_read_otherwise_is_not_written() -> None:
    node = sqlglot.parse_one("`x` > 3", read=DIALECT)
    node.set("expression", sqlglot.exp.Literal(this="3 + 1", is_string=False))
    assert written_conditions(replace(EMPTY, where_nodes=(node,))) is None
