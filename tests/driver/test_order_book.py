"""Queries with nested aggregates over order books, through the driver, while orders come and go: after each commit their rows are those of
their definitions and of an engine that runs them as they are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.values.report import SketchReport
from tests.seeds import SEED, WIDE
from tests.soundness.judged_path import JudgedPath
from tests.soundness.order_book import BOOKS, Event, OrderBook, Signed, events_of, made_trace, table_of, trace_file
from tests.soundness.order_queries import QUERIES, BookQuery

FOLLOWED_FROM_STATES = True
"""Whether the driver follows nested aggregates: what is ``RECOGNISED`` must then come from states after every commit."""
RECOGNISED = frozenset({"VWAP", "MST", "PSP", "SQ1", "SQ1B", "SQ2", "NQ1", "NQ2", "EQ", "AXFINDER"})
LEARNING = 5
"""Rounds until all groups are there: those of all values of the constants come after those of the first ones."""
EVENTS, EACH = (2_000, 20) if WIDE else (80, 8)
TINY = trace_file("tiny")
_FEW = 150
"""Orders up to which a query is computed that takes their cube."""


class Market:
    """A warehouse with both books, which follows a trace; some events are one commit of each table that they change."""

    def __init__(self, path: JudgedPath) -> None:
        self.path = path
        self.book = OrderBook()
        for name in BOOKS:
            path.append(name, table_of([]))

    def follow(self, events: Sequence[Event]) -> None:
        changes = [change for event in events for change in self.book.apply(event)]
        for name in BOOKS:
            self._commit(name, [change for change in changes if change.book == name])

    def _commit(self, name: str, changes: Sequence[Signed]) -> None:
        touched = {change.row.id for change in changes}
        rows = [order for number, order in self.book.books[name].items() if number in touched]
        if touched:
            self.path.merge(name, table_of(rows), sorted(touched - {order.id for order in rows}))

    def ask(self, query: BookQuery) -> SketchReport:
        """Compare the rows of a query with those of its definition and of another engine; return what the driver reports."""
        rows, report = self.path.ask(query.text)
        bids, asks = self.book.bids, self.book.asks
        case = f"{query.text}\nbids: {bids}\nasks: {asks}\nby {report}"
        assert Counter(rows) == Counter(self.path.judged(query.text)), case
        if not query.slow or len(bids) < _FEW:
            assert Counter(rows) == Counter(query.rows(bids, asks)), case
        assert report.reason is not Reason.INTERNAL, case
        return report


def _batches(lines: Sequence[str], each: int) -> Iterator[list[Event]]:
    events = events_of(lines)
    while batch := list(islice(events, each)):
        yield batch


def _replay(lines: Sequence[str], each: int, folder: Path) -> list[str]:
    """Ask all queries after each commit; return those that are recognised and whose rows did not come from states that are followed."""
    missed = []
    with closing(JudgedPath(folder)) as path:
        market = Market(path)
        for number, batch in enumerate(_batches(lines, each)):
            market.follow(batch)
            for query in QUERIES:
                report = market.ask(query)
                is_followed = report.served_by is ServedBy.STATE and report.decision in (Decision.FRESH, Decision.MAINTAINED)
                if number >= LEARNING and query.name in RECOGNISED and not is_followed:
                    missed.append(f"{number}: {query.name} by {report.served_by.name}, {report.decision.name}, {report.not_answered}")
            path.settle()
    return missed


@pytest.mark.parametrize("seed", [0, SEED])
def test_answers_over_a_made_trace(seed: int, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    missed = _replay(made_trace(seed, EVENTS), EACH, tmp_path)
    record_property("cases", EVENTS // EACH * len(QUERIES))
    assert missed == [] or not FOLLOWED_FROM_STATES


@pytest.mark.skipif(TINY is None, reason="IMP_ORDER_BOOK names no folder with tiny/finance.csv, which has no licence to carry it")
def test_answers_over_a_trace_of_a_day(tmp_path: Path) -> None:
    assert TINY is not None
    missed = _replay(TINY.read_text(encoding="utf-8").splitlines(), 5, tmp_path)
    assert missed == [] or not FOLLOWED_FROM_STATES
