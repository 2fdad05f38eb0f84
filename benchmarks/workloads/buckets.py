"""A state beyond the memory budget: capture and steps in buckets, beside those in memory and the plain query, taking turns.

Source: design of incremental views, section 5, tier 2. ``few`` changes fall into one range of the key, ``spread`` ones into all.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from typing import Any

import imp_driver
from benchmarks.harness import Systems

GROUPS = 500_000
CHANGES = {"few": "{start} + id DIV 10", "spread": "(id * 7919) % 500000"}
DELTA = 1_000


def run(systems: Systems, warehouse: str, rows: int, repetitions: int) -> list[dict[str, Any]]:
    """Return one record per place of the state and kind of change."""
    name = "tbuckets"
    systems.incremental.execute(f"DROP TABLE IF EXISTS {name}").close()
    values = f"SELECT CAST(id % {GROUPS} AS INT) AS a, IF(id % {GROUPS} < {GROUPS // 10}, 100, 1) AS b FROM range({rows})"
    systems.incremental.execute(f"CREATE TABLE {name} AS SELECT /*+ REPARTITION_BY_RANGE(64, a) */ * FROM ({values})").close()
    text = f"SELECT a, sum(b) AS s FROM {name} GROUP BY a HAVING sum(b) > {50 * rows // GROUPS}"
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        places = {"memory": 1 << 30, "buckets": 1 << 20}
        connections = {
            place: imp_driver.connect(warehouse=warehouse, memory=budget, store=f"{folder}/{place}", policy="incremental")
            for place, budget in places.items()
        } | {"plain": imp_driver.connect(warehouse=warehouse, sketch="off")}
        for place, connection in connections.items():
            found[place, "first query"] = [_timed(connection, text)]
        for number in range(repetitions):
            for kind, key in CHANGES.items():
                rows_sql = f"SELECT CAST({key.format(start=number * 1000)} AS INT), 1 FROM range({DELTA})"
                systems.incremental.execute(f"INSERT INTO {name} {rows_sql}").close()
                for place, connection in connections.items():
                    found.setdefault((place, kind), []).append(_timed(connection, text))
        for connection in connections.values():
            connection.close()
    systems.incremental.execute(f"DROP TABLE {name}").close()
    records = []
    for (place, kind), each in found.items():
        query, upkeep = (round(statistics.median(values)) for values in zip(*each, strict=True))
        records.append({"state": place, "change": kind, "query ms": query, "of it upkeep ms": upkeep})
        print(records[-1], flush=True)
    return records


def _timed(connection: imp_driver.Connection, text: str) -> tuple[float, float]:
    """Return the milliseconds of a query, and of the upkeep of its sketch."""
    begin = time.perf_counter()
    with connection.execute(text) as cursor:
        cursor.fetchall()
        report = cursor.sketch_report
    assert report is not None
    return 1000 * (time.perf_counter() - begin), sum(report.times.get(stage, 0.0) for stage in ("capture", "maintain", "sketch"))
