"""Counting: by several threads, over several processes, with gauges of several sources."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest

from imp_driver.observe.metrics import Distribution, Metrics, Snapshot

STEP = ("imp_background_step_seconds", ())
STATEMENTS = ("imp_statements_total", ("query",))


@pytest.fixture
def _hasty_threads() -> Iterator[None]:
    """Let threads take turns after almost every step."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("_hasty_threads")
def test_threads_lose_no_count() -> None:
    metrics = Metrics()

    def work() -> None:
        for _ in range(2_000):
            metrics.count("imp_statements_total", "query")
            metrics.observe("imp_background_step_seconds", 0.5)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    snapshot = metrics.snapshot()
    assert snapshot.counters[STATEMENTS] == 16_000
    assert (sum(snapshot.distributions[STEP].counts), snapshot.distributions[STEP].total) == (16_000, 8_000.0)


def test_a_snapshot_stays_what_it_is() -> None:
    metrics = Metrics()
    metrics.count("imp_statements_total", "query")
    metrics.observe("imp_background_step_seconds", 1.0)
    before = metrics.snapshot()
    metrics.count("imp_statements_total", "query")
    metrics.observe("imp_background_step_seconds", 1.0)
    assert (before.counters[STATEMENTS], before.distributions[STEP].total) == (1, 1.0)
    since = metrics.snapshot().since(before)
    assert (since.counters[STATEMENTS], since.distributions[STEP].total) == (1, 1.0)
    assert before.plus(since) == metrics.snapshot()


def test_sums_keep_what_only_one_side_has() -> None:
    one = Snapshot({("a", ()): 1}, {STEP: Distribution(total=1.0)}, {("g", ()): 1})
    other = Snapshot({("b", ()): 2}, {}, {("g", ()): 2})
    total = one.plus(other)
    assert total == Snapshot({("a", ()): 1, ("b", ()): 2}, {STEP: Distribution(total=1.0)}, {("g", ()): 3})
    assert total.without_gauges().gauges == {}


def test_gauges_of_several_sources_add_up_and_a_source_asked_anew_counts_once() -> None:
    metrics = Metrics()
    metrics.read_gauges("one", lambda: {"imp_sketches": 1})
    metrics.read_gauges("two", lambda: {"imp_sketches": 2})
    metrics.read_gauges("two", lambda: {"imp_sketches": 3})
    assert (metrics.connected(1), metrics.connected(1), metrics.connected(-1)) == (1, 2, 1)
    assert metrics.snapshot().gauges == {("imp_sketches", ()): 4, ("imp_connections", ()): 1}


def test_gauges_that_cannot_be_read_cost_no_counter(caplog: pytest.LogCaptureFixture) -> None:
    metrics = Metrics()
    metrics.count("imp_statements_total", "query")

    def fail() -> dict[str, float]:
        raise RuntimeError("dictionary changed size during iteration")

    metrics.read_gauges("broken", fail)
    metrics.read_gauges("whole", lambda: {"imp_sketches": 3})
    snapshot = metrics.snapshot()
    assert (snapshot.counters[STATEMENTS], snapshot.gauges["imp_sketches", ()]) == (1, 3)
    assert "Gauges could not be read: RuntimeError" in caplog.text


def test_nothing_added_shows_a_counter_at_zero() -> None:
    metrics = Metrics()
    metrics.count("imp_evictions_total", amount=0)
    assert metrics.snapshot().counters == {("imp_evictions_total", ()): 0}
