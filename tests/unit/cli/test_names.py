"""Names for completion: asked in the background through a connection of their own, and nothing waits for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import imp_driver
from imp_driver.cli.shell import names as module
from imp_driver.cli.shell.names import Names
from imp_driver.ports import Outcome
from imp_driver.values.execution import Execution
from tests.unit.cli.fakes import Warehouse

SALES = {"odd name": ("n",), "sales": ("shop", "name")}


@contextmanager
def asking(warehouse: Warehouse) -> Iterator[Names]:
    names = Names(lambda: imp_driver.Connection(warehouse))
    try:
        yield names
    finally:
        names.close()


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_names_are_asked_once_and_again_after_a_change() -> None:
    warehouse = Warehouse()
    with asking(warehouse) as names:
        assert names.tables == {}
        names.resume()
        until(lambda: names.tables == SALES)
        asked = list(warehouse.texts)
        names.note("SELECT * FROM sales")
        names.note("INSERT INTO sales VALUES (1)")
        names.resume()
        names.note(" create TABLE t (x INT)")
        names.resume()
        until(lambda: len(warehouse.texts) >= 2 * len(asked) and names.tables == SALES)
    assert warehouse.texts == 2 * asked
    assert warehouse.closed


@pytest.mark.parametrize(
    "statement", ["USE other", "set catalog c", "CREATE OR REPLACE TEMPORARY VIEW v AS SELECT 1", "create temp view v using csv"]
)
def test_what_changes_the_session_is_done_here_too(statement: str) -> None:
    warehouse = Warehouse({statement: imp_driver.ProgrammingError("no")})
    with asking(warehouse) as names:
        names.note(statement)
        names.resume()
        until(lambda: names.tables == SALES)
    assert warehouse.texts[:3] == [statement, "SHOW VIEWS", "SHOW TABLES"]


@pytest.mark.parametrize(
    "statement", ["DROP VIEW v", "CREATE TABLE t AS SELECT 1", "CREATE VIEW v AS SELECT 1", "CREATE GLOBAL TEMP VIEW v AS SELECT 1"]
)
def test_what_changes_what_is_stored_is_not_done_again(statement: str) -> None:
    warehouse = Warehouse()
    with asking(warehouse) as names:
        names.note(statement)
        names.resume()
        until(lambda: names.tables == SALES)
    assert statement not in warehouse.texts


def test_what_fails_is_asked_again_before_the_next_statement() -> None:
    warehouse = Warehouse({"SHOW VIEWS": imp_driver.OperationalError("gone"), "DESCRIBE TABLE sales": imp_driver.ProgrammingError("no")})
    with asking(warehouse) as names:
        names.resume()
        until(lambda: warehouse.texts == ["SHOW VIEWS"])
        assert names.tables == {}
        warehouse.answers["SHOW VIEWS"] = Warehouse().answers["SHOW VIEWS"]

        def are_known() -> bool:
            # The failure is noted after the question, and may end what was resumed before that.
            names.resume()
            return names.tables == {**SALES, "sales": ()}

        until(are_known)


def test_without_a_connection_there_are_no_names() -> None:
    def refused() -> imp_driver.Connection:
        raise imp_driver.OperationalError("full")

    names = Names(refused)
    names.resume()
    names.close()
    assert names.tables == {}


class Stuck(Warehouse):
    """Answers nothing before it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked, self.is_free = threading.Event(), threading.Event()

    def run(self, execution: Execution) -> Outcome:
        """Wait, then answer."""
        self.is_asked.set()
        assert self.is_free.wait(30)
        return super().run(execution)


def test_nothing_waits_for_a_question_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.01)
    warehouse = Stuck()
    names = Names(lambda: imp_driver.Connection(warehouse))
    names.resume()
    assert warehouse.is_asked.wait(30)
    # The thread that would have to answer waits for this one: what joined it would not come back.
    names.pause()
    names.note("CREATE TABLE t (x INT)")
    names.close()
    assert warehouse.texts == []
    warehouse.is_free.set()
    until(lambda: warehouse.closed)


def test_no_question_begins_while_a_statement_runs() -> None:
    warehouse = Stuck()
    with asking(warehouse) as names:
        names.resume()
        assert warehouse.is_asked.wait(30)
        names.pause()
        warehouse.is_free.set()
        until(lambda: set(names.tables) == set(SALES))
    assert warehouse.texts == ["SHOW VIEWS", "SHOW TABLES"]
