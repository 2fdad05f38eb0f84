"""What completion offers."""

from __future__ import annotations

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from imp_driver.cli.shell.completion import StatementCompleter

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
        ("\\dt s", "", ["sales", "shops"]),
        ("\\o s", "", []),
    ],
)
def test_what_may_follow(text: str, after: str, found: list[str]) -> None:
    # Columns and tables come first; behind them stand keywords and functions.
    assert offered(text, after)[: len(found) or 1] == found


def test_tab_alone_offers_columns_and_tables() -> None:
    assert offered("SELECT ", " FROM sales", is_asked_for=True) == ["shop", "price", "sales", "shops", "`odd name`"]
