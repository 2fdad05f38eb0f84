"""CLUSTER SKETCH TABLE: how it is read, and what is written."""

from __future__ import annotations

import pytest

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.parse.clustering import (
    Clustering,
    Columns,
    clustered_sql,
    files_for,
    found_column,
    read_clustering,
    read_name,
    statistics_columns,
)
from imp_driver.values.quoting import qualified, quoted_text

COLUMNS: Columns = [("id", "bigint"), ("Shop", "int"), ("price", "decimal(10,2)"), ("tags", "array<string>"), ("day", "date")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t BY g", Clustering(("t",), "g", None)),
        ("a.b.t by (g) files 8", Clustering(("a", "b", "t"), "g", 8)),
        ("`odd.na``me`.t\n BY `by it` FILES 12 ", Clustering(("odd.na`me", "t"), "by it", 12)),
        ("delta.`/data/t` BY `a-b`", Clustering(("delta", "/data/t"), "a-b", None)),
    ],
)
def test_what_is_asked_for(text: str, expected: Clustering) -> None:
    assert read_clustering(text) == expected


@pytest.mark.parametrize(
    "text", ["t", "t BY", "t BY a, b", "t BY (a, b)", "t BY a FILES", "t BY a FILES 0", "t BY a FILES -1", "t BY f(a)", "a b BY c"]
)
def test_what_cannot_be_read_says_the_form(text: str) -> None:
    with pytest.raises(ProgrammingError, match="CLUSTER SKETCH TABLE table BY column"):
        read_clustering(text)


def test_names_and_texts_are_quoted() -> None:
    assert read_name("a.`b.c`") == ("a", "b.c")
    assert qualified(("a", "b`c")) == "`a`.`b``c`"
    assert quoted_text("it's \\ there") == "'it\\'s \\\\ there'"
    with pytest.raises(ProgrammingError, match="backticks"):
        read_name("a-b")


def test_rows_are_ranged_and_sorted() -> None:
    expected = "SELECT * FROM (SELECT /*+ REPARTITION_BY_RANGE(8, `a b`) */ * FROM `t`) SORT BY `a b`"
    assert clustered_sql(qualified(("t",)), "a b", 8) == expected


def test_files_grow_with_the_table() -> None:
    assert (files_for(0), files_for(5 << 20), files_for(1 << 30), files_for(1 << 36)) == (1, 5, 64, 1_024)


def test_a_column_is_found_in_any_case_and_missed_with_the_nearest() -> None:
    assert found_column(COLUMNS, "SHOP") == "Shop"
    with pytest.raises(ProgrammingError, match=r"Did you mean 'Shop'\? There are id, Shop, price, tags, day"):
        found_column(COLUMNS, "shpo")
    with pytest.raises(ProgrammingError, match="There are id, Shop, price, tags, day"):
        found_column(COLUMNS, "zzz")
    with pytest.raises(NotSupportedError, match="type array<string>"):
        found_column(COLUMNS, "tags")


def _many(count: int) -> Columns:
    return [(f"c{number}", "int") for number in range(count)]


@pytest.mark.parametrize(
    ("columns", "column", "properties", "expected"),
    [
        (COLUMNS, "price", {}, None),
        (_many(40), "c31", {}, None),
        (_many(33), "c32", {}, ",".join(f"`c{number}`" for number in [*range(31), 32])),
        # A STRUCT counts once for each of its fields, and has no bounds of its own.
        (COLUMNS, "day", {}, None),
        ([("s", "struct<a:int,b:int>"), *COLUMNS], "day", {}, "`id`,`Shop`,`price`,`day`"),
        (_many(5), "c2", {"delta.dataSkippingNumIndexedCols": "2"}, "`c0`,`c2`"),
        (_many(5), "c2", {"delta.dataSkippingNumIndexedCols": "0"}, "`c2`"),
        (_many(99), "c98", {"delta.dataSkippingNumIndexedCols": "-1"}, None),
        (_many(5), "c2", {"delta.dataSkippingStatsColumns": "c0, `C2`"}, None),
        (_many(5), "c2", {"delta.dataSkippingStatsColumns": "c0"}, "c0,`c2`"),
    ],
)
def test_the_column_has_statistics(columns: Columns, column: str, properties: dict[str, str], expected: str | None) -> None:
    assert statistics_columns(columns, column, properties) == expected
