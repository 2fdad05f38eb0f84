"""Which clustering is advised, for what, and how it is said."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from imp_driver.advise.advice import Advice, Demand, Layout, advices_for, unserved
from imp_driver.advise.estimate import PIECES, Shares
from imp_driver.cli.advise import print_advice
from imp_driver.maintain.workload import Record

MEBI = 1 << 20
UNORDERED = Layout(("s", "t"), "id", 16, 160 * MEBI, {"g": 1.0, "h": 0.9}, ())


def _flat(share: float) -> Shares:
    return tuple(max(share, 1 / pieces) for pieces in PIECES)


def _demand(name: str, attributes: tuple[str, ...], runs: int = 10, reason: str = "NOT_CLUSTERED", last: int = 0, **share: float) -> Demand:
    shares = {attribute: _flat(each) for attribute, each in share.items()}
    return Demand(Record(name, "text", "s.t", "id", attributes, runs, reason=reason, last_bytes=last, shares=shares))


def test_the_column_that_saves_most_comes_first() -> None:
    demands = [_demand("a", ("g", "h"), 10, g=0.01, h=0.5), _demand("b", ("h",), 5, h=0.01), _demand("c", ("g",), 1, g=0.01)]
    first, second = advices_for(UNORDERED, demands)
    size = 160 * MEBI
    assert (first.clustering, first.templates, first.executions) == ("g", 2, 11)
    assert first.bytes_now == 16 * size
    assert first.bytes_then == pytest.approx(11 * size / 16 + 5 * size)
    assert (second.clustering, second.templates, second.executions) == ("h", 2, 15)
    assert second.bytes_then == pytest.approx(10 * size / 2 + 5 * size / 16 + size)
    assert first.saved is not None
    assert second.saved is not None
    assert first.saved > second.saved > 0


def test_a_clustering_that_takes_more_from_others_than_it_saves_is_not_advised() -> None:
    by_h = Layout(("t",), "id", 100, 160 * MEBI, {"g": 1.0, "h": 0.01}, ())
    served = _demand("a", ("h",), 100, "FILTERED", 2 * MEBI, h=0.01)
    assert advices_for(by_h, [served, _demand("b", ("g",), 5, g=0.01)]) == []
    assert [each.clustering for each in advices_for(by_h, [served, _demand("b", ("g",), 500, g=0.01)])] == ["g"]


def test_nothing_is_advised_where_the_sketch_would_keep_most() -> None:
    assert advices_for(UNORDERED, [_demand("a", ("g",), g=0.8)]) == []
    assert advices_for(UNORDERED, [_demand("a", ("g",), g=0.95)]) == []


def test_nothing_is_advised_where_the_table_is_clustered_by_the_column() -> None:
    for layout in (
        Layout(("t",), "id", 16, 160 * MEBI, {"g": 0.14}, ()),
        Layout(("t",), "id", 16, 160 * MEBI, {"g": 1.0}, ("g",)),
        Layout(("t",), "id", 1, 160 * MEBI, {"g": 1.0}, ()),
    ):
        assert advices_for(layout, [_demand("a", ("g",), reason="COVERS_ALMOST_ALL", g=0.01)]) == []


def test_a_column_without_file_statistics_is_no_candidate() -> None:
    assert advices_for(Layout(("t",), "id", 16, 160 * MEBI, {}, ()), [_demand("a", ("g",), g=0.01)]) == []


def test_without_an_estimate_the_clustering_is_named_and_its_gain_is_not() -> None:
    (advice,) = advices_for(UNORDERED, [_demand("a", ("g",))])
    assert (advice.clustering, advice.bytes_then, advice.saved) == ("g", None, None)
    assert advices_for(UNORDERED, [_demand("a", ("g",), g=0.01), _demand("b", ("h",))])[-1].clustering == "h"
    by_g = Layout(("t",), "id", 100, 160 * MEBI, {"g": 0.4}, ())
    assert advices_for(by_g, [_demand("a", ("g",), reason="FILTERED", last=MEBI)]) == []


def test_measured_bytes_come_before_estimated_ones() -> None:
    (advice,) = advices_for(UNORDERED, [Demand(_demand("a", ("g",), 1, g=0.01).record, 100 * MEBI)])
    assert advice.bytes_now == 100 * MEBI


def test_statement_clusters_where_delta_can_and_keeps_files_apart() -> None:
    (advice,) = advices_for(UNORDERED, [_demand("a", ("g",), g=0.01)])
    assert (advice.statement or "").split("\n") == [
        f"SET spark.databricks.delta.optimize.maxFileSize = {10 * MEBI};",
        "ALTER TABLE `s`.`t` CLUSTER BY (`g`);",
        "OPTIMIZE `s`.`t` FULL;",
        "RESET spark.databricks.delta.optimize.maxFileSize;",
    ]
    (advice,) = advices_for(Layout(("t",), "id", 16, 160 * MEBI, {"g": 1.0}, ("p",)), [_demand("a", ("g",), g=0.01)])
    assert (advice.statement or "").split("\n")[1] == "OPTIMIZE `t` ZORDER BY (`g`);"


@pytest.mark.parametrize(
    ("files", "mebibytes", "future"),
    [(16, 1, 16), (100_000, 100, 64), (1, 1024, 16), (2000, 200_000, 3125), (10_000, 200_000, 10_000), (1, 1, 1)],
)
def test_future_files_are_neither_tiny_nor_huge(files: int, mebibytes: int, future: int) -> None:
    assert Layout(("t",), "id", files, mebibytes * MEBI, {}, ()).future_files == future


def test_templates_without_advice_are_grouped_by_reason() -> None:
    records = [Record(str(number), reason="NO_AGGREGATION", runs=number) for number in (1, 2)]
    first, second = unserved([*records, Record("x", table="s.t", reason="FILTERED", runs=9)])
    assert (first.table, first.templates, first.executions) == ("s.t", 1, 9)
    assert (second.table, second.templates, second.executions) == (None, 2, 3)
    assert (second.reason or "").startswith("NO_AGGREGATION: the query has no GROUP BY")


def _printed(*advices: Advice) -> str:
    names = ("table", "clustering", "templates", "executions", "bytes_now", "bytes_then", "saved", "statement", "reason")
    rows = [{{"table": "table_name", "saved": "saved_bytes"}.get(name, name): getattr(each, name) for name in names} for each in advices]
    console = Console(file=io.StringIO(), width=160)
    print_advice(rows, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_what_the_command_prints() -> None:
    assert "No query is recorded" in _printed()
    advised = advices_for(UNORDERED, [_demand("a", ("g",), g=0.01)])
    text = _printed(*advised, *unserved([Record("x", table="s.t", reason="NO_FILTER_ABOVE_GROUPS", runs=9)]))
    assert "1.6 GiB" in text
    assert "100.0 MiB" in text
    assert "\nALTER TABLE `s`.`t` CLUSTER BY (`g`);\n" in text
    assert "NO_FILTER_ABOVE_GROUPS" in text
    assert "no estimate yet" not in text
    assert "no estimate yet" in _printed(*advices_for(UNORDERED, [_demand("a", ("g",))]))
    assert "No clustering would save" in _printed(*unserved([Record("x", reason="NO_AGGREGATION")]))
