"""Which clustering is advised, for what, and how it is said."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from imp_driver.advise.advice import Advice, Demand, Layout, advice_for, property_for, unserved
from imp_driver.advise.estimate import PIECES, Shares
from imp_driver.cli.advise import print_advice
from imp_driver.maintain.upkeep_times import UpkeepTime, UpkeepTimes
from imp_driver.maintain.workload import Record
from imp_driver.reasons import DeltaSource

MEBI = 1 << 20
UNORDERED = Layout(("s", "t"), "id", 16, 160 * MEBI, {"g": 1.0, "h": 0.9}, ())


def _flat(share: float) -> Shares:
    return tuple(max(share, 1 / pieces) for pieces in PIECES)


def _demand(name: str, attributes: tuple[str, ...], runs: int = 10, reason: str = "NOT_CLUSTERED", last: int = 0, **share: float) -> Demand:
    shares = {attribute: _flat(each) for attribute, each in share.items()}
    return Demand(Record(name, "text", "s.t", "id", attributes, runs, reason=reason, last_bytes=last, shares=shares))


def _best(layout: Layout, *demands: Demand) -> Advice:
    advice = advice_for(layout, demands)
    assert advice is not None
    return advice


def test_one_clustering_is_advised_the_one_that_saves_most_over_all_queries() -> None:
    demands = [_demand("a", ("g", "h"), 10, g=0.01, h=0.5), _demand("b", ("h",), 5, h=0.01), _demand("c", ("g",), 1, g=0.01)]
    best = _best(UNORDERED, *demands)
    size = 160 * MEBI
    assert (best.clustering, best.templates, best.executions) == ("g", 2, 11)
    assert best.bytes_now == 16 * size
    assert best.bytes_then == pytest.approx(11 * size / 16 + 5 * size)
    # With fewer of the queries that g serves, the other column saves more.
    best = _best(UNORDERED, _demand("a", ("g", "h"), 2, g=0.01, h=0.5), *demands[1:])
    assert (best.clustering, best.templates, best.executions) == ("h", 2, 7)
    assert best.bytes_then == pytest.approx(2 * size / 2 + 5 * size / 16 + size)


def test_a_clustering_that_takes_more_from_others_than_it_saves_is_not_advised() -> None:
    by_h = Layout(("t",), "id", 100, 160 * MEBI, {"g": 1.0, "h": 0.01}, ())
    served = _demand("a", ("h",), 100, "FILTERED", 2 * MEBI, h=0.01)
    assert advice_for(by_h, [served, _demand("b", ("g",), 5, g=0.01)]) is None
    assert _best(by_h, served, _demand("b", ("g",), 500, g=0.01)).clustering == "g"


def test_what_other_columns_skip_would_be_lost() -> None:
    demands, size = [_demand("a", ("g",), 10, g=0.01)], 160 * MEBI
    assert _best(UNORDERED, *demands).bytes_then == pytest.approx(10 * size / 16)
    best = advice_for(UNORDERED, demands, 3 * size)
    assert best is not None
    assert best.bytes_then == pytest.approx(10 * size / 16 + 3 * size)
    assert advice_for(UNORDERED, demands, 9 * size) is None


def test_nothing_is_advised_where_the_sketch_would_keep_most() -> None:
    assert advice_for(UNORDERED, [_demand("a", ("g",), g=0.8)]) is None
    assert advice_for(UNORDERED, [_demand("a", ("g",), g=0.95)]) is None


def test_nothing_is_advised_where_the_table_is_clustered_by_the_column() -> None:
    for layout in (
        Layout(("t",), "id", 16, 160 * MEBI, {"g": 0.14}, ()),
        Layout(("t",), "id", 16, 160 * MEBI, {"g": 1.0}, ("g",)),
        Layout(("t",), "id", 1, 160 * MEBI, {"g": 1.0}, ()),
    ):
        assert advice_for(layout, [_demand("a", ("g",), reason="COVERS_ALMOST_ALL", g=0.01)]) is None


def test_a_column_without_file_statistics_is_no_candidate() -> None:
    assert advice_for(Layout(("t",), "id", 16, 160 * MEBI, {}, ()), [_demand("a", ("g",), g=0.01)]) is None


def test_nothing_is_advised_without_an_estimate_and_the_reason_says_how_to_get_one() -> None:
    unknown = _demand("a", ("g",))
    assert advice_for(UNORDERED, [unknown]) is None
    assert _best(UNORDERED, _demand("a", ("g",), g=0.01), _demand("b", ("h",))).clustering == "g"
    (line,) = unserved([unknown.record])
    assert "estimated by ADVISE SKETCHES" in (line.reason or "")
    (line,) = unserved([_demand("a", ("g",), g=0.9).record])
    assert "estimated" not in (line.reason or "")


@pytest.mark.parametrize(
    ("steps", "seconds", "properties", "name"),
    [
        (10, 5.0, {}, "delta.enableDeletionVectors"),
        (10, 5.0, {"delta.enableDeletionVectors": "false"}, "delta.enableDeletionVectors"),
        (10, 5.0, {"delta.enableDeletionVectors": "true"}, "delta.enableChangeDataFeed"),
        (10, 5.0, {"delta.enableChangeDataFeed": "true"}, None),
        (100, 5.0, {}, None),
        (2, 0.9, {}, None),
    ],
)
def test_a_property_is_advised_where_upkeep_reads_more_than_has_changed(
    steps: int, seconds: float, properties: dict[str, str], name: str | None
) -> None:
    found = property_for(UpkeepTime(("s", "t"), DeltaSource.CHANGED_FILES, steps, seconds), properties)
    assert (found is None) == (name is None)
    if found is not None:
        assert found.statement == f"ALTER TABLE `s`.`t` SET TBLPROPERTIES ('{name}' = 'true');"
        assert (found.reason or "").startswith("10 steps of upkeep took 5.0 s: added and removed files")
        assert "about 4.5 s less" in (found.reason or "")


def test_times_are_summed_by_table_where_files_are_compared() -> None:
    times = UpkeepTimes()
    for source in (DeltaSource.CHANGED_FILES, DeltaSource.CHANGE_FEED, None, DeltaSource.SPARK_FILES):
        times.note([("s", "t"), ("s", "u")], source, 0.5)
    assert times.every() == tuple(UpkeepTime(("s", name), DeltaSource.SPARK_FILES, 2, 1.0) for name in "tu")


def test_measured_bytes_come_before_estimated_ones() -> None:
    advice = _best(UNORDERED, Demand(_demand("a", ("g",), 1, g=0.01).record, 100 * MEBI))
    assert advice.bytes_now == 100 * MEBI


def test_statement_clusters_where_delta_can_and_keeps_files_apart() -> None:
    advice = _best(UNORDERED, _demand("a", ("g",), g=0.01))
    assert (advice.statement or "").split("\n") == [
        f"SET spark.databricks.delta.optimize.maxFileSize = {10 * MEBI};",
        "ALTER TABLE `s`.`t` CLUSTER BY (`g`);",
        "OPTIMIZE `s`.`t` FULL;",
        "RESET spark.databricks.delta.optimize.maxFileSize;",
    ]
    advice = _best(Layout(("t",), "id", 16, 160 * MEBI, {"g": 1.0}, ("p",)), _demand("a", ("g",), g=0.01))
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
    advice = _best(UNORDERED, _demand("a", ("g",), g=0.01))
    cheaper = property_for(UpkeepTime(("t",), DeltaSource.SPARK_FILES, 3, 9.0), {})
    assert cheaper is not None
    text = _printed(advice, cheaper, *unserved([Record("x", table="s.t", reason="NO_FILTER_ABOVE_GROUPS", runs=9)]))
    assert "1.6 GiB" in text
    assert "100.0 MiB" in text
    assert "\nALTER TABLE `s`.`t` CLUSTER BY (`g`);\n" in text
    assert "NO_FILTER_ABOVE_GROUPS" in text
    assert "\nt: 3 steps of upkeep took 9.0 s" in text
    assert "\nALTER TABLE `t` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true');\n" in text
    assert "No clustering would save" in _printed(*unserved([Record("x", reason="NO_AGGREGATION")]))
