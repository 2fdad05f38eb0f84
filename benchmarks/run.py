"""``python -m benchmarks.run``: workloads in one run, one after the other; answers are compared throughout.

The result files are written after every workload, so that a run which is cut off keeps what it has.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.bench import Bench
from benchmarks.harness import environment
from benchmarks.report import write
from benchmarks.workloads import (
    aggregates,
    bloom,
    breakeven,
    buckets,
    crimes,
    eager,
    filters,
    fragments,
    groups,
    growth,
    joins,
    maintenance,
    memory,
    mixes,
    nested,
    observing,
    overhead,
    pages,
    pushdown,
    selective,
    sizes,
    sqlonly,
    startup,
    storing,
    threads,
    throughput,
    topk,
    tpch,
)

Records: TypeAlias = list[dict[str, Any]]
Workload: TypeAlias = Callable[[Bench], Records | Mapping[str, Records]]

WORKLOADS: dict[str, Workload] = {
    "startup": lambda bench: startup.run(3),
    "throughput": lambda bench: throughput.run(bench.repetitions, max(bench.rows, 100_000)),
    "observing": lambda bench: observing.run(bench.repetitions),
    "storing": lambda bench: storing.run(bench.repetitions),
    "sizes": lambda bench: sizes.run(max(bench.rows, 50_000)),
    "overhead": lambda bench: overhead.run(bench.loaded, bench.warehouse, 4 * bench.repetitions),
    "threads": lambda bench: threads.run(bench.loaded, bench.warehouse, bench.share(3, 3)),
    "selective": lambda bench: selective.run(bench.loaded, bench.repetitions),
    "filters": lambda bench: filters.run(bench.loaded, bench.share(2, 5)),
    "maintenance": lambda bench: maintenance.run(bench.loaded, bench.share(2, 5)),
    "joins": lambda bench: joins.run(bench.loaded, bench.share(2, 5)),
    "nested": lambda bench: nested.run(bench.loaded, bench.share(2, 5)),
    "tpch": lambda bench: tpch.run(bench.by_cost(bench.systems), bench.scale, bench.share(3, 3)),
    "mixes": lambda bench: mixes.run(bench.by_cost(bench.loaded), bench.rounds, bench.quick),
    "groups": lambda bench: groups.run(bench.systems, bench.rows, bench.share(2, 5)),
    "aggregates": lambda bench: aggregates.run(bench.loaded, bench.share(2, 5)),
    "fragments": lambda bench: fragments.run(bench.systems, bench.warehouse, bench.rows, bench.share(2, 5)),
    "breakeven": lambda bench: breakeven.run(bench.loaded, bench.share(5, 3)),
    "pages": lambda bench: pages.run(bench.loaded, bench.share(1, 5)),
    "pushdown": lambda bench: pushdown.run(bench.loaded, bench.share(5, 3)),
    "bloom": lambda bench: bloom.run(bench.loaded, bench.share(2, 5)),
    "crimes": lambda bench: crimes.run(bench.systems, round(crimes.SHARE * bench.rows), bench.share(2, 5)),
    "sqlonly": lambda bench: sqlonly.run(bench.loaded, bench.warehouse, bench.share(2, 5)),
    "eager": lambda bench: eager.run(bench.loaded, bench.share(15, 1)),
    "memory": lambda bench: memory.run(bench.systems, bench.rows),
    "buckets": lambda bench: buckets.run(bench.systems, bench.warehouse, bench.rows, bench.share(2, 5)),
    "topk": lambda bench: topk.run(bench.systems, 2 * bench.repetitions),
    "growth": lambda bench: growth.run(bench.systems, bench.warehouse, bench.growth, bench.share(2, 5)),
}
"""By name, in the order in which they run; those before ``overhead`` need no Spark in this process."""
MAIN = ("startup", "overhead", "selective", "maintenance", "joins", "tpch", "mixes")


def main(arguments: Sequence[str] | None = None) -> None:
    parsed = _parser().parse_args(arguments)
    chosen = WORKLOADS if "all" in parsed.workloads else parsed.workloads
    described = environment() | {"rows": f"{parsed.rows:,}"}
    results: dict[str, Records] = {}
    with tempfile.TemporaryDirectory() as folder, Bench(parsed, parsed.warehouse or f"{folder}/warehouse") as bench:
        for name, workload in WORKLOADS.items():
            if name in chosen:
                found = workload(bench)
                results |= {f"{name}: {part}": records for part, records in found.items()} if isinstance(found, Mapping) else {name: found}
                write(Path(__file__).parent / "results", parsed.name, described, results)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the table (default %(default)s)")
    parser.add_argument("--scale", type=float, default=1.0, help="scale factor of TPC-H (default %(default)s)")
    parser.add_argument("--growth", type=int, nargs="+", default=[1_000_000, 10_000_000, 50_000_000], help="sizes of the workload growth")
    parser.add_argument("--rounds", type=int, default=1, help="how often each mix is repeated (default %(default)s)")
    parser.add_argument("--repetitions", type=int, default=15, help="repetitions behind each median (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="two mixes only")
    parser.add_argument("--workloads", nargs="+", choices=(*WORKLOADS, "all"), default=MAIN)
    parser.add_argument("--warehouse", help="folder to keep the data in (default: a temporary one)")
    parser.add_argument("--name", default="main-job", help="name of the result files (default %(default)s)")
    return parser


if __name__ == "__main__":
    main()
