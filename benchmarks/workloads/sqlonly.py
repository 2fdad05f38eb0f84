"""Maintenance in SQL alone (IMP report Appendix B) beside the driver's, and another engine that computes the groups anew.

The state of the aggregate is a Delta table; each change is read from the table's change feed and merged into it by Spark, and the groups
that pass are selected from it, which is what a sketch is derived from. DuckDB, where it is installed, computes the same from the table's
Parquet files and from a table of its own that holds the same rows.
"""

from __future__ import annotations

import importlib.util
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import Answer, Rows, Systems, before_execution, checked, median_milliseconds
from benchmarks.upkeep import WARM_UP, drop, recapture, rounded, version_of
from benchmarks.workloads.aggregates import insert
from imp_driver.cli.synthetic import GROUPS
from imp_driver.reasons import Decision

STATE = "sqlonly_state"
DELTAS = (20, 2000)
LOW = GROUPS // 2
PASSES = f"total / counted > {LOW} AND total / counted < {LOW + 50}"


def run(systems: Systems, warehouse: str, repetitions: int) -> list[dict[str, Any]]:
    """Return one record per strategy and delta size."""
    table = systems.table.name
    text = f"SELECT a, avg(b) AS ab FROM {table} GROUP BY a HAVING avg(b) > {LOW} AND avg(b) < {LOW + 50}"
    capture = recapture(systems, text)
    _capture(systems)
    sql_capture = median_milliseconds(partial(_capture, systems), 3)
    records: list[dict[str, Any]] = []
    for delta in DELTAS:
        records += _deltas(systems, text, delta, repetitions)
        records.append({"strategy": "driver, captured again", "delta": delta, "ms": rounded(capture), "of it groups that pass ms": "-"})
        records.append({"strategy": "SQL, captured again", "delta": delta, "ms": rounded(sql_capture), "of it groups that pass ms": "-"})
    records += _duckdb(systems, warehouse, text, repetitions)
    for record in records:
        print(record, flush=True)
    drop(systems, STATE)
    return records


def _deltas(systems: Systems, text: str, delta: int, repetitions: int) -> list[dict[str, Any]]:
    driver, merged, selected = [], [], []
    version = version_of(systems, systems.table.name)
    _capture(systems)
    for repetition in range(repetitions + WARM_UP):
        insert(systems, delta)
        newer = version_of(systems, systems.table.name)
        answer = systems.ask("IMP", text)
        merge = median_milliseconds(partial(_merge, systems, version + 1, newer), 1)
        selection = systems.ask("NS", f"SELECT a, total / counted AS ab FROM {STATE} WHERE {PASSES}")
        checked([systems.ask("NS", text), answer, selection])
        version = newer
        if repetition >= WARM_UP:
            merged.append(merge)
            selected.append(selection.seconds * 1000)
            if answer.report.decision is Decision.MAINTAINED:
                driver.append(before_execution(answer.report))
    both = [merge + select for merge, select in zip(merged, selected, strict=True)]
    median = statistics.median(driver) if driver else None
    return [
        {"strategy": "driver, maintained", "delta": delta, "ms": rounded(median), "of it groups that pass ms": "-"},
        {
            "strategy": "SQL, merged",
            "delta": delta,
            "ms": round(statistics.median(both), 1),
            "of it groups that pass ms": round(statistics.median(selected), 1),
        },
    ]


def _capture(systems: Systems) -> None:
    """Make the state anew from the whole table."""
    groups = f"SELECT a, count(*) AS number, count(b) AS counted, sum(b) AS total FROM {systems.table.name} GROUP BY a"
    systems.plain.execute(f"CREATE OR REPLACE TABLE {STATE} USING DELTA AS {groups}").close()


def _merge(systems: Systems, first: int, last: int) -> None:
    """Merge the changes of some versions into the state; a group without rows goes."""
    sign = "IF(_change_type IN ('insert', 'update_postimage'), 1, -1)"
    changes = (
        f"SELECT a, sum({sign}) AS number, sum(IF(b IS NULL, 0, {sign})) AS counted, sum(b * {sign}) AS total "
        f"FROM table_changes('{systems.table.name}', {first}, {last}) GROUP BY a"
    )
    systems.plain.execute(
        f"MERGE INTO {STATE} s USING ({changes}) d ON s.a <=> d.a WHEN MATCHED AND s.number + d.number = 0 THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET number = s.number + d.number, counted = s.counted + d.counted, "
        "total = coalesce(s.total, 0) + coalesce(d.total, 0) WHEN NOT MATCHED THEN INSERT *"
    ).close()


def _duckdb(systems: Systems, warehouse: str, text: str, repetitions: int) -> list[dict[str, Any]]:
    if importlib.util.find_spec("duckdb") is None:
        print("sqlonly: duckdb is not installed, so nothing is compared with it", flush=True)
        return []
    import duckdb
    from deltalake import DeltaTable

    # The table has had no deletes, so its files are its rows.
    files = DeltaTable(str(Path(warehouse) / systems.table.name)).file_uris()
    expected = systems.ask("NS", text)
    records = []
    with duckdb.connect() as engine:
        engine.execute("CREATE TABLE exported AS SELECT a, b FROM read_parquet($files)", {"files": files})
        for name, source in (("its own table", "exported"), ("Parquet files", f"read_parquet({files!r})")):
            read = partial(_groups, engine.execute, text.replace(systems.table.name, source))
            checked([expected, Answer(read(), 0.0, expected.report)])
            milliseconds = round(median_milliseconds(read, repetitions), 1)
            records.append({"strategy": f"DuckDB, {name}", "delta": "any", "ms": milliseconds, "of it groups that pass ms": "-"})
    return records


def _groups(execute: Callable[[str], Any], text: str) -> Rows:
    rows: Rows = execute(text).fetchall()
    return rows
