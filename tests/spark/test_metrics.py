"""The counters of an embedded warehouse: of a capture, a maintenance step and an error, in the process and as another one prints them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

import imp_driver
from tests.spark.reports import report_of

SUMS = "SELECT g, sum(x) AS f FROM metered GROUP BY g HAVING sum(x) > ?"
Samples = dict[tuple[str, tuple[str, ...]], float]


@pytest.fixture
def connection(engine: imp_driver.Connection, warehouse: Path) -> Iterator[imp_driver.Connection]:
    engine.execute("DROP TABLE IF EXISTS metered").close()
    rows = "SELECT CAST(id DIV 20 AS INT) AS g, CAST(id % 7 AS INT) AS x FROM range(2000)"
    engine.execute(f"CREATE TABLE metered AS SELECT /*+ REPARTITION_BY_RANGE(10, g) */ * FROM ({rows})").close()
    with imp_driver.connect(warehouse=str(warehouse), policy="incremental", answers="off") as connection:
        connection.execute("DROP SKETCH ALL").close()
        yield connection


def _samples(text: str, warehouse: Path) -> Samples:
    """Return the values of a warehouse by name and the other labels."""
    found = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    kept = [sample for sample in found if sample.labels.pop("warehouse") == str(warehouse.resolve())]
    return {(sample.name, tuple(sample.labels.values())): sample.value for sample in kept}


def _grown(before: Samples, after: Samples, name: str, *labels: str) -> float:
    return after.get((name, labels), 0) - before.get((name, labels), 0)


def test_a_capture_a_step_and_an_error_are_counted(connection: imp_driver.Connection, warehouse: Path) -> None:
    before = _samples(imp_driver.metrics(), warehouse)
    with connection.cursor() as cursor:
        reports = [report_of(cursor.execute(SUMS, (70,)))]
        cursor.execute("INSERT INTO metered VALUES (3, 1000)")
        reports.append(report_of(cursor.execute(SUMS, (70,))))
        with pytest.raises(imp_driver.ProgrammingError):
            cursor.execute("SELECT nothing FROM metered")
        with pytest.raises(imp_driver.DataError):
            cursor.execute("SELECT CAST(id AS STRING) + CAST('x' AS INT) FROM range(3)").fetchall()
    assert [report.decision.name for report in reports] == ["CAPTURED", "MAINTAINED"]
    after = _samples(imp_driver.metrics(), warehouse)
    for report in reports:
        assert _grown(before, after, "imp_decisions_total", report.decision.name, report.reason.name) == 1
    assert _grown(before, after, "imp_statements_total", "query") == 4
    assert _grown(before, after, "imp_statements_total", "change") == 1
    assert _grown(before, after, "imp_captures_total", "") == 1
    assert _grown(before, after, "imp_maintenance_steps_total", "query") == 1
    assert _grown(before, after, "imp_delta_rows_total", "query") == 1
    assert _grown(before, after, "imp_errors_total", "ProgrammingError") == 1
    assert _grown(before, after, "imp_errors_total", "DataError") == 1
    assert _grown(before, after, "imp_stage_seconds_count", "execute") == 5
    assert _grown(before, after, "imp_stage_seconds_count", "capture") == 1
    assert after["imp_sketches", ()] >= 1
    assert after["imp_state_bytes", ()] > 0
    # Another connection, that of the fixture, is open as long as the tests run.
    assert after["imp_connections", ()] >= 2


def test_another_process_prints_what_was_written(connection: imp_driver.Connection, warehouse: Path) -> None:
    connection.execute(SUMS, (70,)).close()
    pipeline: object = connection._pipeline
    pipeline._observer._file.write()  # type: ignore[attr-defined]
    here = _samples(imp_driver.metrics(), warehouse)
    command = [sys.executable, "-m", "imp_driver", "metrics", f"imp:///{warehouse}"]
    printed = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    )
    assert printed.stderr == ""
    assert _samples(printed.stdout, warehouse) == here
    assert here["imp_statements_total", ("query",)] >= 1
