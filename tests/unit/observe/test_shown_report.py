"""A report as people and programs read it."""

from __future__ import annotations

import json

import imp_driver
import imp_driver.report
from imp_driver.report import Decision, DeltaSource, Grounds, Reason, RecaptureReason, ServedBy, SketchReport

FULL = SketchReport(
    Decision.RECAPTURED,
    Reason.FILTERED,
    table="sales",
    attribute="shop",
    sketch_id="ab",
    version=3,
    tables={"sales": 3},
    delta_rows=1200,
    delta_source=DeltaSource.CHANGE_FEED,
    recapture_reason=RecaptureReason.COSTS_MORE,
    fragments_kept=1,
    fragments_total=9,
    files_kept=2,
    files_total=64,
    bytes_kept=1_500_000,
    bytes_total=30_000_000,
    times={"parse": 0.25, "execute": 1200.0},
    also=(SketchReport(Decision.FRESH, Reason.FILTERED, tables={"shops": 7}),),
    served_by=ServedBy.SKETCH,
    not_answered=Grounds(Reason.STATE_TOO_LARGE, "2 GiB"),
)


def test_a_report_prints_as_a_short_table() -> None:
    assert str(FULL).splitlines() == [
        "served by        SKETCH: Spark, which read what a sketch had left",
        "decision         RECAPTURED",
        "why              FILTERED: the query ran with the range filter of its sketch",
        "not from groups  STATE_TOO_LARGE: 2 GiB",
        "versions         sales 3, shops 7",
        "rows changed     1,200 (change data feed, read in process)",
        "captured again   COSTS_MORE: by the times of the last steps, capturing again is cheaper than maintaining",
        "sketch           1 of 9 fragments of sales.shop, 2 of 64 files, 1.5 of 30.0 MB",
        "time             1,200.2 ms (parse 0.2, execute 1,200.0)",
    ]


def test_what_spark_computes_over_groups_is_not_told_as_without_spark() -> None:
    report = SketchReport(Decision.FRESH, Reason.ANSWERED, served_by=ServedBy.STATE_AND_SPARK)
    assert str(report).splitlines()[-1] == "why        ANSWERED: the rows come from what the driver maintains, by way of Spark"
    alone = SketchReport(Decision.FRESH, Reason.ANSWERED, served_by=ServedBy.STATE)
    assert str(alone).splitlines()[-1].endswith("without Spark")


def test_a_statement_that_is_no_query_has_little_to_say() -> None:
    report = SketchReport(Decision.NOT_USED, Reason.NOT_A_QUERY, times={"execute": 2.0})
    assert str(report).splitlines() == ["why   NOT_A_QUERY: the statement is not a SELECT", "time  2.0 ms (execute 2.0)"]


def test_in_a_notebook_nothing_of_a_report_is_markup() -> None:
    html = SketchReport(Decision.NOT_USED, Reason.VIEW, "view <script>x</script> & \x1b[31m")._repr_html_()
    assert "<script>" not in html
    assert "VIEW: view &lt;script&gt;x&lt;/script&gt; &amp; \\x1b[31m" in html


def test_a_report_as_values_of_json() -> None:
    found = json.loads(json.dumps(FULL.to_dict()))
    assert found["decision"] == "RECAPTURED"
    assert found["served_by"] == "SKETCH"
    assert found["recapture_reason"] == "COSTS_MORE"
    assert found["not_answered"] == {"reason": "STATE_TOO_LARGE", "detail": "2 GiB"}
    assert found["times"] == {"parse": 0.25, "execute": 1200.0}
    assert found["versions"] == {"sales": 3, "shops": 7}
    assert found["also"][0]["decision"] == "FRESH"
    assert found["template"] is None


def test_the_module_of_reports_has_the_types_that_the_driver_has() -> None:
    assert all(getattr(imp_driver, name) is getattr(imp_driver.report, name) for name in imp_driver.report.__all__)
