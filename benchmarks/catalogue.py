"""The workloads by name, and which of them are not on the common protocol yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from benchmarks.bench import Bench
from benchmarks.journal import Journal
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

Rows: TypeAlias = Sequence[Mapping[str, Any]]
Workload: TypeAlias = Callable[[Bench, Journal], None]


def _told(run: Callable[[Bench], Rows | Mapping[str, Rows]]) -> Workload:
    """Return a workload that is not on the protocol yet: its rows become facts, which meet no goal."""

    def workload(bench: Bench, journal: Journal) -> None:
        found = run(bench)
        for table, rows in (found if isinstance(found, Mapping) else {"": found}).items():
            for number, row in enumerate(rows):
                facts = {name: each if isinstance(each, str | int | float | None) else str(each) for name, each in row.items()}
                journal.page({"table": table, "row": number}).facts.update(facts)

    return workload


WORKLOADS: dict[str, Workload] = {
    "startup": lambda bench, journal: startup.run(journal, bench.plan),
    "throughput": lambda bench, journal: throughput.run(journal, bench.plan, max(bench.rows, 100_000)),
    "observing": _told(lambda bench: observing.run(bench.repetitions)),
    "storing": _told(lambda bench: storing.run(bench.repetitions)),
    "sizes": lambda bench, journal: sizes.run(journal, max(bench.rows, 50_000)),
    "overhead": lambda bench, journal: overhead.run(journal, bench.plan, bench.loaded, bench.warehouse),
    "threads": lambda bench, journal: threads.run(journal, bench.plan, bench.loaded, bench.warehouse),
    "selective": lambda bench, journal: selective.run(journal, bench.plan, bench.loaded),
    "filters": lambda bench, journal: filters.run(journal, bench.plan, bench.loaded),
    "maintenance": lambda bench, journal: maintenance.run(journal, bench.plan, bench.loaded),
    "joins": lambda bench, journal: joins.run(journal, bench.plan, bench.loaded),
    "nested": lambda bench, journal: nested.run(journal, bench.plan, bench.loaded),
    "tpch": lambda bench, journal: tpch.run(journal, bench.plan, bench.by_cost(bench.systems), bench.scale),
    "mixes": lambda bench, journal: mixes.run(journal, bench.plan, bench.by_cost(bench.loaded), is_quick=bench.quick),
    "groups": lambda bench, journal: groups.run(journal, bench.plan, bench.systems, bench.rows),
    "aggregates": lambda bench, journal: aggregates.run(journal, bench.plan, bench.loaded),
    "fragments": lambda bench, journal: fragments.run(journal, bench.plan, bench.systems, bench.warehouse, bench.rows),
    "breakeven": lambda bench, journal: breakeven.run(journal, bench.plan, bench.loaded),
    "pages": lambda bench, journal: pages.run(journal, bench.plan, bench.loaded),
    "pushdown": lambda bench, journal: pushdown.run(journal, bench.plan, bench.loaded),
    "bloom": lambda bench, journal: bloom.run(journal, bench.plan, bench.loaded),
    "crimes": lambda bench, journal: crimes.run(journal, bench.plan, bench.systems, round(crimes.SHARE * bench.rows)),
    "sqlonly": _told(lambda bench: sqlonly.run(bench.loaded, bench.warehouse, bench.share(2, 5))),
    "eager": _told(lambda bench: eager.run(bench.loaded, bench.share(15, 1))),
    "memory": _told(lambda bench: memory.run(bench.systems, bench.rows)),
    "buckets": lambda bench, journal: buckets.run(journal, bench.plan, bench.systems, bench.warehouse, bench.rows),
    "topk": _told(lambda bench: topk.run(bench.systems, 2 * bench.repetitions)),
    "growth": lambda bench, journal: growth.run(journal, bench.plan, bench.systems, bench.warehouse, bench.growth),
}
"""By name, in the order in which they run; those before ``overhead`` need no Spark in this process."""
MAIN = ("startup", "overhead", "selective", "maintenance", "joins", "tpch", "mixes")
