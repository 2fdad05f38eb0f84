"""The workloads by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from benchmarks.bench import Bench
from benchmarks.journal import Journal
from benchmarks.workloads import (
    adhoc,
    advice,
    aggregates,
    answers,
    bloom,
    breakeven,
    buckets,
    crimes,
    dashboard,
    eager,
    feedless,
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
    recursion,
    selective,
    sizes,
    sqlonly,
    ssb,
    startup,
    storing,
    threads,
    throughput,
    tools,
    topk,
    tpch,
    tpch_answers,
    views,
)

Workload: TypeAlias = Callable[[Bench, Journal], None]

WORKLOADS: dict[str, Workload] = {
    "startup": lambda bench, journal: startup.run(journal, bench.plan),
    "throughput": lambda bench, journal: throughput.run(journal, bench.plan, max(bench.rows, 100_000)),
    "observing": lambda bench, journal: observing.run(journal, bench.plan),
    "storing": lambda bench, journal: storing.run(journal, bench.plan),
    "sizes": lambda bench, journal: sizes.run(journal, max(bench.rows, 50_000)),
    "recursion": lambda bench, journal: recursion.run(journal, bench.plan, is_quick=bench.quick),
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
    "sqlonly": lambda bench, journal: sqlonly.run(journal, bench.plan, bench.loaded, bench.warehouse),
    "eager": lambda bench, journal: eager.run(journal, bench.plan, bench.loaded, bench.warehouse, is_quick=bench.quick),
    "feedless": lambda bench, journal: feedless.run(journal, bench.plan, bench.systems, bench.rows),
    "memory": lambda bench, journal: memory.run(journal, bench.plan, bench.systems, bench.rows),
    "buckets": lambda bench, journal: buckets.run(journal, bench.plan, bench.systems, bench.warehouse, bench.rows),
    "topk": lambda bench, journal: topk.run(journal, bench.plan, bench.systems),
    "answers": lambda bench, journal: answers.run(journal, bench.plan, bench.warehouse, bench.rows, is_quick=bench.quick),
    "tpch_answers": lambda bench, journal: tpch_answers.run(journal, bench.plan, bench.warehouse, bench.scale),
    "ssb": lambda bench, journal: ssb.run(journal, bench.plan, bench.warehouse, bench.scale),
    "dashboard": lambda bench, journal: dashboard.run(journal, bench.plan, bench.warehouse, bench.rows, is_quick=bench.quick),
    "adhoc": lambda bench, journal: adhoc.run(journal, bench.plan, bench.warehouse, bench.rows),
    "advice": lambda bench, journal: advice.run(journal, bench.plan, bench.warehouse, bench.scale),
    "tools": lambda bench, journal: tools.run(journal, bench.plan, bench.warehouse),
    "views": lambda bench, journal: views.run(journal, bench.plan, bench.warehouse, bench.scale),
    "growth": lambda bench, journal: growth.run(journal, bench.plan, bench.systems, bench.warehouse, bench.growth),
}
"""By name, in the order in which they run; those before ``overhead`` need no Spark in this process."""
MAIN = ("startup", "overhead", "selective", "maintenance", "joins", "tpch", "mixes")
