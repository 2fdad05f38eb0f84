"""Total cost of maintenance for single-row updates that the eager worker takes in batches of several sizes (IMP report 8.5, figure 16).

The last line is lazy maintenance: one step, when the query asks for it.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import imp_driver
from benchmarks.harness import Rows, Systems
from benchmarks.workloads.mixes import query
from imp_driver.cli.answers import same
from imp_driver.cli.synthetic import insert_rows

UPDATES = 100
BATCHES = (1, 5, 10, 50, 100)
_PATIENCE = 60.0
"""Seconds that a step may take."""


def run(systems: Systems, repetitions: int) -> list[dict[str, Any]]:
    """Return one record per batch size, and one for lazy maintenance; each is the median of so many runs of UPDATES updates."""
    text = query(systems.table.name, 1, 2_000)
    warehouse = _warehouse(systems)
    systems.incremental.execute("DROP SKETCH ALL").close()
    records = []
    for batch in BATCHES:
        with imp_driver.connect(warehouse=warehouse, sketch="eager", eager_batch=batch) as eager:
            records.append(_record(str(batch), UPDATES // batch, [_eager(systems, eager, text, batch) for _ in range(repetitions)]))
        print(records[-1], flush=True)
    records.append(_record("lazy", 1, [_lazy(systems, text) for _ in range(repetitions)]))
    print(records[-1], flush=True)
    return records


def _record(batch: str, steps: int, spent: list[float]) -> dict[str, Any]:
    total = statistics.median(spent)
    return {"batch": batch, "steps": steps, "total ms": round(total, 1), "ms per update": round(total / UPDATES, 2)}


def _eager(systems: Systems, eager: imp_driver.Connection, text: str, batch: int) -> float:
    """Make the updates and wait for the worker at each full batch; return its milliseconds."""
    _rows(eager, text)
    before = _shown(eager)
    for number in range(1, UPDATES + 1):
        _update(systems, eager)
        if number % batch == 0:
            _wait_for_steps(eager, before["eager_steps"] + number // batch)
    after = _shown(eager)
    assert after["eager_steps"] - before["eager_steps"] == UPDATES // batch, after
    with eager.execute(text) as cursor:
        assert cursor.sketch_report is not None
        assert cursor.sketch_report.decision.name == "FRESH", cursor.sketch_report
        assert same(cursor.fetchall(), _rows(systems.plain, text))
    return float(after["eager_ms"] - before["eager_ms"])


def _lazy(systems: Systems, text: str) -> float:
    _rows(systems.incremental, text)
    for _ in range(UPDATES):
        _update(systems, systems.incremental)
    answer = systems.ask("IMP", text)
    assert answer.report.decision.name == "MAINTAINED", answer.report
    assert same(answer.rows, _rows(systems.plain, text))
    return answer.report.times["maintain"]


def _update(systems: Systems, connection: imp_driver.Connection) -> None:
    insert_rows(connection, systems.table.name, systems.next_id, 1, systems.seed)
    systems.next_id += 1
    systems.seed += 20


def _rows(connection: imp_driver.Connection, text: str) -> Rows:
    with connection.execute(text) as cursor:
        return cursor.fetchall()


def _shown(connection: imp_driver.Connection) -> dict[str, Any]:
    """Return the only row of SHOW SKETCHES."""
    with connection.execute("SHOW SKETCHES") as cursor:
        names = [name for name, *_ in cursor.description or ()]
        [row] = cursor.fetchall()
        return dict(zip(names, row, strict=True))


def _wait_for_steps(connection: imp_driver.Connection, steps: int) -> None:
    deadline = time.monotonic() + _PATIENCE
    while _shown(connection)["eager_steps"] < steps:
        assert time.monotonic() < deadline, _shown(connection)
        time.sleep(0.002)


def _warehouse(systems: Systems) -> str:
    """Return the folder that the benchmark's table lies in."""
    with systems.plain.execute(f"DESCRIBE DETAIL {systems.table.name}") as cursor:
        names = [name for name, *_ in cursor.description or ()]
        [row] = cursor.fetchall()
    return str(Path(unquote(row[names.index("location")].removeprefix("file:"))).parent)
