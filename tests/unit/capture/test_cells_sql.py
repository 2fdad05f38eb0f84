"""The two queries of a state whose sketched attribute is no group key fit together, on another engine."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
import sqlglot

from imp_driver.capture.buckets import CutColumn
from imp_driver.capture.capture import column, parts_of
from imp_driver.capture.instrument import capture_sql, cells_sql
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.plan.bind import BoundBlock, bind
from imp_driver.sketch.cells import CapturedCells, CellCut, cell_groups
from imp_driver.sketch.cut_groups import CutGroups
from imp_driver.values.cuts import CutName
from imp_driver.values.ranges import RangePartition
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import analysis_of

SCHEMA = (
    SchemaColumn("g", "double", True),
    SchemaColumn("h", "string", True),
    SchemaColumn("x", "integer", True),
    SchemaColumn("v", "long", True),
)
PARTITION = RangePartition(pa.int32(), (3, 6))
Row = tuple[float | None, str | None, int | None, int]


def block_of(text: str) -> BoundBlock:
    analysis = analysis_of(text, SCHEMA)
    return bind(analysis.block, None, analysis.columns)


def random_rows(seed: int) -> list[Row]:
    chance = np.random.default_rng(seed)

    def one(values: list[Any]) -> Any:
        return values[int(chance.integers(len(values)))]

    return [(one([None, 0.0, -0.0, 1.5]), one([None, "", "a"]), one([None, 0, 2, 3, 5, 6, 9]), one([1, 2, 3, 4])) for _ in range(200)]


@pytest.mark.parametrize("seed", range(3))
def test_captured_cells_are_the_rows_of_the_groups(seed: int) -> None:
    rows = random_rows(seed)
    block = block_of("SELECT h, g, sum(v) FROM t WHERE v < 4 GROUP BY h, g HAVING sum(v) > 3")
    types = (pa.string(), pa.float64())
    with duckdb.connect() as connection:
        names = [each.name for each in SCHEMA]
        kinds = (pa.float64(), pa.string(), pa.int32(), pa.int64())
        table = pa.table({name: pa.array([row[place] for row in rows], kinds[place]) for place, name in enumerate(names)})
        connection.register("t", table)

        def read(text: str) -> pa.Table:
            return connection.sql(sqlglot.transpile(text, read="spark", write="duckdb")[0]).to_arrow_table()

        captured = read(capture_sql(block, lambda scan: "t"))
        cells = read(cells_sql(block, lambda scan: "t", CutColumn("x", "integer", PARTITION)))
    keys = [column(captured, f"key_{place}") for place in range(2)]
    groups = cell_groups(types, keys, [column(cells, f"key_{place}") for place in range(2)])
    held = CapturedCells.of(groups, column(cells, "cell_fragment"), column(cells, "cell_rows"))
    specifications = tuple(each.specification for each in block.aggregates)
    parts = {place: part.cast(pa.int64()) for place, part in parts_of(captured, specifications).items()}
    state = GroupState.capture(keys, column(captured, "row_count"), parts, specifications, types)
    cut = CellCut.capture(held, state.rows, PARTITION, "x")
    kept = [row for row in rows if row[3] < 4]
    expected = np.bincount(PARTITION.locate(pa.array([row[2] for row in kept], pa.int32())), minlength=PARTITION.fragments)
    assert cut.fragment_rows().tolist() == expected.tolist()
    twin = Counter((row[1], row[0], int(PARTITION.locate(pa.array([row[2]], pa.int32()))[0])) for row in kept)
    snapshot = {name: values.to_pylist() for name, values in CutGroups(state, {CutName(100, None, 0, "x"): cut}).snapshot().items()}
    found = {
        (snapshot["key_0"][group], snapshot["key_1"][group], fragment): count
        for group, fragment, count in zip(snapshot["cell_0_group"], snapshot["cell_0_fragment"], snapshot["cell_0_rows"], strict=True)
    }
    assert found == dict(twin)


def test_text_of_the_query() -> None:
    block = block_of("SELECT g, count(*) FROM t WHERE v < 4 GROUP BY g HAVING count(*) > 3")
    cut = CutColumn("x", "integer", RangePartition(pa.int32(), (3,)))
    assert cells_sql(block, lambda scan: "t VERSION AS OF 3", cut) == (
        "SELECT key_0, cell_fragment, count(*) AS cell_rows FROM ("
        "SELECT *, IF(cell_value IS NULL, 2, cell_fragment_0) AS cell_fragment FROM ("
        "SELECT *, 2 * 0 + IF(cell_value >= try_element_at(array(3), 0 + 1), 1, 0) AS cell_fragment_0 FROM ("
        "SELECT `g` AS key_0, `x` AS cell_value FROM t VERSION AS OF 3 WHERE (`v` < 4)))) GROUP BY key_0, cell_fragment"
    )
