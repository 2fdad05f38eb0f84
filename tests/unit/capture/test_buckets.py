"""Fragments in SQL are those of the partition, value by value on another engine; ranges follow files."""

from __future__ import annotations

import datetime
import itertools
import math
import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from imp_driver.capture.buckets import CutColumn, file_partition
from imp_driver.plan.render import quoted
from imp_driver.rewrite.ranges import range_condition
from imp_driver.values.ranges import RangePartition, equi_depth
from imp_driver.values.types import arrow_type
from tests.seeds import SEED

SPECIAL = [0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, 1e308]
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "byte": st.integers(-128, 127),
    "integer": st.integers(-(2**31), 2**31 - 1) | st.integers(-5, 5),
    "long": st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5),
    "decimal(10,2)": st.decimals(-(10**7), 10**7, places=2),
    "decimal(30,3)": st.decimals(-(10**26), 10**26, places=3),
    "double": st.sampled_from(SPECIAL) | st.floats(),
    "float": st.sampled_from(SPECIAL[:5]) | st.floats(width=32),
    "date": st.dates(),
    "timestamp_ntz": st.datetimes(datetime.datetime(1600, 1, 1), datetime.datetime(2300, 1, 1)),
    "string": st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4)
    | st.sampled_from(["", "'", "\\", "ä"]),
    "boolean": st.booleans(),
}


MANY = 600
"""Values of a type that has so many, and about as many bounds."""
RANDOM: dict[str, Callable[[random.Random], Any]] = {
    "byte": lambda chance: chance.randrange(-128, 128),
    "short": lambda chance: chance.randrange(-(2**15), 2**15),
    "integer": lambda chance: chance.randrange(-(2**31), 2**31),
    "long": lambda chance: chance.randrange(-(2**63), 2**63),
    "decimal(10,2)": lambda chance: Decimal(chance.randrange(-(10**10), 10**10)).scaleb(-2),
    "decimal(30,3)": lambda chance: Decimal(chance.randrange(-(10**29), 10**29)).scaleb(-3),
    "double": lambda chance: struct.unpack("d", chance.randbytes(8))[0],
    "float": lambda chance: struct.unpack("f", chance.randbytes(4))[0],
    "date": lambda chance: datetime.date.fromordinal(chance.randrange(1, 3_000_000)),
    "timestamp": lambda chance: datetime.datetime.fromtimestamp(chance.randrange(-(10**9), 10**10) + chance.random(), datetime.UTC),
    "timestamp_ntz": lambda chance: datetime.datetime(1950, 1, 1) + datetime.timedelta(microseconds=chance.randrange(10**16)),
    "string": lambda chance: "".join(chance.choices("'\\\"é\U0001f600 aZ09,;%", k=chance.randrange(13))),
    "boolean": lambda chance: chance.random() < 0.5,
}


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as found:
        yield found


def found_by(connection: duckdb.DuckDBPyConnection, query: str, values: pa.Array) -> list[Any]:
    """Return the column ``found`` of a query of Spark SQL over the table ``t`` with the column ``odd `name`` by DuckDB."""
    connection.register("t", pa.table({"odd `name": values, "place": range(len(values))}))
    text = sqlglot.transpile(f"SELECT found FROM ({query}) ORDER BY place", read="spark", write="duckdb")[0]
    found: list[Any] = connection.sql(text).to_arrow_table().column("found").to_pylist()
    return found


def located(connection: duckdb.DuckDBPyConnection, type_name: str, partition: RangePartition, values: pa.Array) -> list[Any]:
    cut = CutColumn("odd `name", type_name, partition)
    return found_by(connection, cut.located_sql("SELECT * FROM t", "found", quoted(cut.name)), values)


@pytest.mark.parametrize("type_name", sorted(VALUES))
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_what_is_located_is_the_fragment(connection: duckdb.DuckDBPyConnection, type_name: str, data: st.DataObject) -> None:
    kind = arrow_type(type_name)
    cut_from, others = (pa.array(data.draw(st.lists(st.none() | VALUES[type_name], max_size=25)), type=kind) for _ in range(2))
    partition = equi_depth(cut_from, np.ones(len(cut_from), dtype=np.int64), data.draw(st.integers(1, 20)))
    values = pa.concat_arrays([cut_from, others, pa.array(partition.bounds, type=kind), pa.array([None], type=kind)])
    assert located(connection, type_name, partition, values) == partition.locate(values).tolist()
    # What use compares with is the same: runs hold the rows of their fragments, NULL where it is asked for.
    has_null = data.draw(st.booleans())
    kept = np.array([*data.draw(st.lists(st.booleans(), min_size=partition.ranges, max_size=partition.ranges)), has_null])
    condition = range_condition("odd `name", type_name, partition, runs_of(kept[:-1]), has_null)
    query = f"SELECT *, coalesce({condition}, FALSE) AS found FROM t"
    assert found_by(connection, query, values) == kept[partition.locate(values)].tolist()


@pytest.mark.parametrize("type_name", sorted(VALUES))
def test_many_ranges(connection: duckdb.DuckDBPyConnection, type_name: str) -> None:
    chance, kind = random.Random(SEED), arrow_type(type_name)
    cut_from, others = (pa.array([RANDOM[type_name](chance) for _ in range(MANY)], type=kind) for _ in range(2))
    partition = equi_depth(cut_from, np.ones(MANY, dtype=np.int64), MANY)
    special = pa.array([None, *(SPECIAL if type_name == "double" else SPECIAL[:5] if type_name == "float" else [])], type=kind)
    values = pa.concat_arrays([others, pa.array(partition.bounds, type=kind), special])
    assert partition.ranges > 400 or type_name in ("byte", "boolean")
    assert located(connection, type_name, partition, values) == partition.locate(values).tolist()


def runs_of(kept: npt.NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    places = np.flatnonzero(kept)
    if len(places) == 0:
        return ()
    return tuple((int(run[0]), int(run[-1])) for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1))


@pytest.mark.parametrize(("bounds", "levels"), [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (1023, 10), (1024, 11)])
def test_a_binary_search_compares_with_each_bound_at_one_level(bounds: int, levels: int) -> None:
    cut = CutColumn("a", "integer", RangePartition(pa.int32(), tuple(range(bounds))))
    tree = sqlglot.parse_one(cut.located_sql("SELECT * FROM t", "f", "a"), read="spark")
    arrays = [[int(each.this) for each in level.expressions] for level in tree.find_all(sqlglot.exp.Array)]
    assert len(arrays) == levels
    assert sorted(itertools.chain(*arrays)) == list(range(bounds))


def test_text_of_what_is_located() -> None:
    cut = CutColumn("a", "long", RangePartition(pa.int64(), (10, 20)))
    assert cut.located_sql("SELECT * FROM t", "f", "`a`") == (
        "SELECT *, IF(`a` IS NULL, 3, f_1) AS f FROM ("
        "SELECT *, 2 * f_0 + IF(`a` >= try_element_at(array(CAST(10 AS BIGINT)), f_0 + 1), 1, 0) AS f_1 FROM ("
        "SELECT *, 2 * 0 + IF(`a` >= try_element_at(array(CAST(20 AS BIGINT)), 0 + 1), 1, 0) AS f_0 FROM (SELECT * FROM t)))"
    )
    one = CutColumn("a", "long", RangePartition(pa.int64(), ()))
    assert one.located_sql("SELECT * FROM t", "f", "`a`") == "SELECT *, IF(`a` IS NULL, 1, 0) AS f FROM (SELECT * FROM t)"


@dataclass(frozen=True, slots=True)
class Files:
    """Statistics of files of one column."""

    lower: pa.Array
    upper: pa.Array
    rows: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]

    def bounds(self, column: str) -> tuple[pa.Array, pa.Array, npt.NDArray[np.int64]]:
        return self.lower, self.upper, np.full(len(self.rows), -1)


def files_of(*files: tuple[Any, Any, int], kind: pa.DataType | None = None, sizes: list[int] | None = None) -> Files:
    lower, upper, rows = zip(*files, strict=True) if files else ((), (), ())
    kind = kind or pa.int64()
    return Files(pa.array(lower, kind), pa.array(upper, kind), np.array(rows, np.int64), np.array(sizes or [1] * len(files), np.int64))


def bounds_of(files: Files, fragments: int, kind: pa.DataType | None = None) -> tuple[Any, ...] | None:
    partition = file_partition(files, "a", kind or files.lower.type, fragments)
    return None if partition is None else partition.bounds


def test_ranges_start_where_files_start() -> None:
    files = files_of(*((10 * place, 10 * place + 9, 5) for place in range(100)))
    assert bounds_of(files, 100) == tuple(range(10, 1000, 10))
    partition = file_partition(files, "a", pa.int64(), 10)
    assert partition is not None
    assert partition.bounds == tuple(range(100, 1000, 100))


def test_ranges_hold_equal_rows_and_not_equal_files() -> None:
    files = files_of((0, 9, 70), (10, 19, 10), (20, 29, 10), (30, 39, 10))
    assert bounds_of(files, 2) == (10,)


def test_sizes_stand_in_for_rows_where_these_are_unknown() -> None:
    files = files_of((0, 9, 1), (10, 19, -1), (20, 29, 1), (30, 39, 1), sizes=[70, 10, 10, 10])
    assert bounds_of(files, 2) == (10,)
    assert bounds_of(files_of((0, 9, 1), (10, 19, 97), (20, 29, 1), (30, 39, 1), sizes=[70, 10, 10, 10]), 2) == (20,)


def test_overlapping_files_are_told_apart_by_their_maxima() -> None:
    assert bounds_of(files_of((0, 50, 5), (0, 100, 5), (0, 70, 5)), 10) == (50, 70)
    assert bounds_of(files_of((0, 50, 5), (20, 100, 5)), 10) == (20, 50)


@pytest.mark.parametrize(
    "files",
    [
        files_of(),
        files_of((0, 100, 5)),
        files_of((0, 100, 5), (0, 100, 5)),
        files_of((None, None, 5), (None, None, 5)),
        files_of((None, None, 5), (None, None, 5), kind=pa.null()),
    ],
    ids=["no files", "one file", "equal files", "unknown", "no statistics"],
)
def test_one_range_is_no_partition(files: Files) -> None:
    assert bounds_of(files, 10, pa.int64()) is None


def test_values_of_other_types_are_no_bounds() -> None:
    assert bounds_of(files_of(("x", "y", 1), ("z", "zz", 1), kind=pa.string()), 10, pa.int64()) is None
    lists = files_of(([1], [2], 1), ([3], [4], 1), kind=pa.list_(pa.int64()))
    assert bounds_of(lists, 10, pa.int64()) is None


@pytest.mark.parametrize(
    ("kind", "files", "expected"),
    [
        (pa.string(), [("a", "b", 1), ("c", "d\U0010ffff", 1), (None, None, 1)], ("b", "c")),
        (
            pa.decimal128(30, 1),
            [(Decimal("0.5"), Decimal("1.5"), 1), (Decimal("2.5"), Decimal("9.5"), 1)],
            (Decimal("1.5"), Decimal("2.5")),
        ),
        (pa.float64(), [(-1.0, math.nan, 1), (0.5, 3.0, 1), (math.inf, math.inf, 1)], (0.5, 3.0)),
        (pa.date32(), [(datetime.date(2020, 1, 1), None, 1), (datetime.date(2021, 1, 1), None, 1)], (datetime.date(2021, 1, 1),)),
    ],
    ids=["truncated strings", "wide decimals", "NaN and infinity", "dates without maxima"],
)
def test_partition_of_a_type(kind: pa.DataType, files: list[tuple[Any, Any, int]], expected: tuple[Any, ...]) -> None:
    partition = file_partition(files_of(*files, kind=kind), "a", kind, 10)
    assert partition == RangePartition(kind, expected)
