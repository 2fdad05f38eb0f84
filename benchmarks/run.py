"""``python -m benchmarks.run``: all workloads in one run, on the papers' table; answers are compared throughout."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import imp_driver
from benchmarks.harness import Systems, environment
from benchmarks.report import write
from benchmarks.workloads import joins, maintenance, mixes, overhead, selective, startup, tpch
from imp_driver.cli.synthetic import SyntheticTable, create

_ALL = ("startup", "overhead", "selective", "maintenance", "joins", "tpch", "mixes")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the table (default %(default)s)")
    parser.add_argument("--scale", type=float, default=1.0, help="scale factor of TPC-H (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=1, help="how often each mix is repeated (default %(default)s)")
    parser.add_argument("--repetitions", type=int, default=15, help="repetitions behind each median (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="two mixes only")
    parser.add_argument("--workloads", nargs="+", choices=_ALL, default=_ALL)
    parser.add_argument("--warehouse", help="folder to keep the data in (default: a temporary one)")
    parser.add_argument("--name", default="main-job", help="name of the result files (default %(default)s)")
    parsed = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        results = _run(parsed, parsed.warehouse or f"{folder}/warehouse")
    write(Path(__file__).parent / "results", parsed.name, environment() | {"rows": f"{parsed.rows:,}"}, results)


def _run(parsed: argparse.Namespace, warehouse: str) -> dict[str, list[dict[str, Any]]]:
    results: dict[str, list[dict[str, Any]]] = {}
    if "startup" in parsed.workloads:
        results["startup"] = startup.run(3)
    table = SyntheticTable("r500", parsed.rows)
    with (
        imp_driver.connect(warehouse=warehouse, sketch="off") as plain,
        imp_driver.connect(warehouse=warehouse, sketch="lazy", fragments=9_999) as full,
        imp_driver.connect(warehouse=warehouse, sketch="lazy") as incremental,
    ):
        create(incremental, table)
        systems = Systems(table, plain, full, incremental, next_id=table.rows)
        if "overhead" in parsed.workloads:
            results["overhead"] = overhead.run(systems, warehouse, 4 * parsed.repetitions)
        if "selective" in parsed.workloads:
            results["selective"] = selective.run(systems, parsed.repetitions)
        if "maintenance" in parsed.workloads:
            results["maintenance"] = maintenance.run(systems, max(5, parsed.repetitions // 2))
        if "joins" in parsed.workloads:
            results["joins"] = joins.run(systems, max(5, parsed.repetitions // 2))
        if "tpch" in parsed.workloads:
            results["tpch"] = tpch.run(systems, parsed.scale, max(3, parsed.repetitions // 3))
        if "mixes" in parsed.workloads:
            results["mixes"] = mixes.run(systems, parsed.rounds, parsed.quick)
    return results


if __name__ == "__main__":
    main()
