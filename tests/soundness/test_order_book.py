"""Order books and the queries over them: what the tests of the driver compare with must itself be right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.seeds import SEED, WIDE
from tests.soundness.engine import in_duckdb
from tests.soundness.judged_path import unoptimised_engine
from tests.soundness.order_book import Event, Order, OrderBook, Signed, events_of, made_trace, net, table_of, trace_file
from tests.soundness.order_queries import PUBLISHED, QUERIES, QUERY_OF, Orders

STANDARD = trace_file("standard")


def _book(lines: Sequence[str]) -> OrderBook:
    book = OrderBook()
    for event in events_of(lines):
        book.apply(event)
    return book


def test_orders_come_to_the_book_of_their_action_and_belong_to_the_broker_of_their_last_digit() -> None:
    book = _book(["1,17,B,5,100", "2,28,S,6,200"])
    assert (book.bids, book.asks) == ([Order(1, 17, 7, 5, 100)], [Order(2, 28, 8, 6, 200)])


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("3,17,E,2,0", [Order(1, 17, 7, 3, 100)]),
        ("3,17,E,5,0", []),
        ("3,17,E,9,0", []),
        ("3,17,D,0,0", []),
        ("3,17,F,5,100", []),
        ("3,99,D,5,100", [Order(1, 17, 7, 5, 100)]),
        ("3,99,E,5,100", [Order(1, 17, 7, 5, 100)]),
        ("3,17,T,5,100", [Order(1, 17, 7, 5, 100)]),
        ("3,17,X,5,100", [Order(1, 17, 7, 5, 100)]),
        ("3,17,C,5,100", [Order(1, 17, 7, 5, 100)]),
    ],
)
@pytest.mark.parametrize("action", ["B", "S"])
def test_orders_are_reduced_and_leave_in_whichever_book_they_are(action: str, line: str, left: list[Order]) -> None:
    book = _book([f"1,17,{action},5,100", line])
    assert (book.bids if action == "B" else book.asks) == left


def test_what_an_event_changes_is_what_it_makes_of_the_books() -> None:
    book, rows = OrderBook(), Counter[tuple[str, Order]]()
    changes: list[Signed] = []
    for event in events_of(made_trace(SEED, 400)):
        changes += book.apply(event)
    rows.update({("bids", row): 1 for row in book.bids})
    rows.update({("asks", row): 1 for row in book.asks})
    assert net(changes) == rows
    assert len(changes) > 300


def test_a_line_that_is_no_event_is_told_of() -> None:
    with pytest.raises(ValueError, match="line 2 of the trace has 4 fields instead of 5"):
        list(events_of(["1,17,B,5,100", "1,17,B,5"]))


def test_a_made_trace_has_what_real_ones_have() -> None:
    events = list(events_of(made_trace(0, 600)))
    actions = Counter(event.action for event in events)
    assert set(actions) == set("BSEDFTXC")
    bids = _book(made_trace(0, 600)).bids
    assert len({bid.price for bid in bids}) < len(bids) / 2
    assert any(bid.volume == 0 for bid in bids)
    known: set[int] = set()
    unknown = 0
    for event in events:
        unknown += event.action in "DEF" and event.order not in known
        known |= {event.order} if event.action in "BS" else set()
    assert unknown > 5


def _compare_with_engine(bids: Orders, asks: Orders) -> int:
    """Compare the definitions with an engine over the same rows; return how many queries have rows that are not NULL."""
    known = 0
    with unoptimised_engine() as engine:
        engine.register("bids", table_of(bids))
        engine.register("asks", table_of(asks))
        for query in QUERIES:
            found = query.rows(bids, asks)
            assert Counter(engine.sql(in_duckdb(query.text)).fetchall()) == Counter(found), (query.name, bids, asks)
            known += any(row[-1] is not None for row in found)
    return known


@pytest.mark.parametrize("seed", [0, SEED])
def test_definitions_are_what_another_engine_computes(seed: int) -> None:
    book, known = OrderBook(), 0
    for number, event in enumerate(events_of(made_trace(seed, 2_000 if WIDE else 90))):
        if number % 30 == 0:
            known += _compare_with_engine(book.bids, book.asks)
        book.apply(event)
    assert known > 8


def test_a_sum_of_no_orders_is_null() -> None:
    assert QUERY_OF["VWAP"].rows([], []) == [(None,)]
    assert QUERY_OF["MST"].rows([Order(1, 1, 1, 5, 100)], [Order(1, 2, 2, 5, 100)]) == []
    _compare_with_engine([], [])


def test_of_orders_at_two_prices_the_threshold_is_not_passed_by_equality() -> None:
    bids = [Order(1, 1, 1, 75, 100), Order(2, 2, 2, 25, 200)]
    assert QUERY_OF["VWAP"].rows(bids, []) == [(25 * 200,)]
    assert QUERY_OF["VWAP"].rows([bids[0]._replace(volume=76), bids[1]._replace(volume=24)], []) == [(76 * 100 + 24 * 200,)]


@pytest.mark.skipif(STANDARD is None, reason="IMP_ORDER_BOOK names no folder with standard/finance.csv, which has no licence to carry it")
def test_results_that_are_published() -> None:
    book = _read(STANDARD)
    assert {name: sorted(QUERY_OF[name].rows(book.bids, book.asks)) for name in PUBLISHED} == PUBLISHED


def _read(path: Path | None) -> OrderBook:
    assert path is not None
    return _book(path.read_text(encoding="utf-8").splitlines())


def test_events_are_read_as_they_are_written() -> None:
    assert list(events_of(["25260635,36721,B,100,10000\n"])) == [Event(25_260_635, 36_721, "B", 100, 10_000)]
