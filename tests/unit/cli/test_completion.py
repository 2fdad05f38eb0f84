"""What completion offers, and that its names are asked for in the background alone, before statements and never beside one."""

from __future__ import annotations

import threading

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

import imp_driver
from imp_driver.cli.shell.completion import StatementCompleter
from imp_driver.cli.shell.names import Names
from tests.unit.cli.fakes import Warehouse, connection

TABLES = {"sales": ("shop", "price"), "shops": ("shop", "city", "Größe"), "odd name": ("n",)}


def offered(text: str, after: str = "", is_asked_for: bool = False) -> list[str]:
    completer = StatementCompleter(lambda: TABLES)
    event = CompleteEvent(completion_requested=is_asked_for)
    return [each.text for each in completer.get_completions(Document(text + after, len(text)), event)]


@pytest.mark.parametrize(
    ("text", "after", "found"),
    [
        ("SELECT * FROM sa", "", ["sales"]),
        ("select * from `od", "", ["`odd name`"]),
        ("SELECT * FROM sales JOIN SHO", "", ["shops"]),
        ("SELECT pri", "", ["price"]),
        ("SELECT ci", " FROM sales", []),
        ("SELECT s.", " FROM sales AS s JOIN shops t", ["shop", "price"]),
        ("SELECT t.c", " FROM sales AS s JOIN shops t", ["city"]),
        ("SELECT sales.p", "", ["price"]),
        ("SELECT x.p", " FROM sales", []),
        ("SELECT shop FROM sales WHERE p", "", ["price"]),
        ("SELECT g", " FROM shops", ["`Größe`"]),
        ("SELE", "", ["SELECT"]),
        ("sele", "", ["select"]),
        ("SELECT count_", "", ["count_if("]),
        ("SELECT 1; SELE", "", ["SELECT"]),
        ("SELECT 'sa", "", []),
        ("-- sa", "", []),
        ("SELECT ", "", []),
        ("", "", []),
        ("\\ti", "", ["\\timing"]),
        ("\\report f", "", ["full"]),
        ("\\d s", "", ["sales", "shops"]),
        ("\\o s", "", []),
    ],
)
def test_what_may_follow(text: str, after: str, found: list[str]) -> None:
    # Columns and tables come first; behind them stand keywords and functions.
    assert offered(text, after)[: len(found) or 1] == found


def test_tab_alone_offers_columns_and_tables() -> None:
    assert offered("SELECT ", " FROM sales", is_asked_for=True) == ["shop", "price", "sales", "shops", "`odd name`"]


def wait(names: Names) -> None:
    """Wait until nothing is asked any more."""
    for thread in threading.enumerate():
        if thread.name == "imp-names":
            thread.join(30)
            assert not thread.is_alive()
    names.pause()


def test_names_are_asked_once_and_again_after_a_change() -> None:
    opened, warehouse = connection()
    with opened:
        names = Names(opened)
        assert names.tables == {}
        names.resume()
        wait(names)
        assert names.tables == {"odd name": ("n",), "sales": ("shop", "name")}
        asked = len(warehouse.texts)
        names.resume()
        names.note("SELECT * FROM sales")
        names.note("INSERT INTO sales VALUES (1)")
        names.resume()
        wait(names)
        assert len(warehouse.texts) == asked
        names.note(" create TABLE t (x INT)")
        names.resume()
        wait(names)
        assert len(warehouse.texts) == 2 * asked


def test_what_cannot_be_asked_is_no_error() -> None:
    opened, _ = connection({"SHOW VIEWS": imp_driver.OperationalError("gone"), "DESCRIBE TABLE sales": imp_driver.ProgrammingError("no")})
    with opened:
        names = Names(opened)
        names.resume()
        wait(names)
        assert names.tables == {}


def test_a_table_that_cannot_be_described_has_no_columns() -> None:
    opened, _ = connection({"DESCRIBE TABLE sales": imp_driver.ProgrammingError("no")})
    with opened:
        names = Names(opened)
        names.resume()
        wait(names)
        assert names.tables == {"odd name": ("n",), "sales": ()}


class Slow(Warehouse):
    """Describes no table before it is interrupted."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked = threading.Event()
        self.is_interrupted = threading.Event()

    def run(self, execution: object) -> object:  # type: ignore[override]
        if getattr(execution, "text", "").startswith("DESCRIBE"):
            self.is_asked.set()
            assert self.is_interrupted.wait(30)
            raise imp_driver.OperationalError("cancelled")
        return super().run(execution)  # type: ignore[arg-type]

    def interrupt(self, execution: object) -> None:
        self.is_interrupted.set()


def test_a_statement_does_not_wait_for_names() -> None:
    warehouse = Slow()
    with imp_driver.Connection(warehouse) as opened:  # type: ignore[arg-type]
        names = Names(opened)
        names.resume()
        assert warehouse.is_asked.wait(30)
        names.pause()
        assert not any(thread.name == "imp-names" for thread in threading.enumerate())
        assert set(names.tables) == {"sales", "odd name"}
