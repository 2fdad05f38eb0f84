"""WHAT IF: where its changes end, and what stands between them."""

from __future__ import annotations

import pytest

from imp_driver.errors import ProgrammingError
from imp_driver.parse.what_if import read_what_if


def test_changes_end_at_semicolons_and_the_bracket_that_closes_the_first_one() -> None:
    first = "INSERT INTO t VALUES (1, ';)'), (2, \"(\")"
    second = "DELETE FROM t WHERE x IN (1, 2) -- ; )\n AND y = 3"
    found = read_what_if(f"  what if ( {first} ;; {second} ;) SELECT ')' FROM t ; ")
    assert (found.changes, found.query) == ((first, second), "SELECT ')' FROM t")


def test_a_text_that_begins_alike_has_the_same_changes() -> None:
    first = read_what_if("WHAT IF (DELETE FROM t) SELECT 1")
    again = read_what_if("WHAT IF (DELETE FROM t) SELECT 2 WHERE (3 = 3)", first)
    assert (again.changes, again.query) == (("DELETE FROM t",), "SELECT 2 WHERE (3 = 3)")
    assert read_what_if("WHAT IF (DELETE FROM u) SELECT 2", first).changes == ("DELETE FROM u",)
    with pytest.raises(ProgrammingError, match="no query"):
        read_what_if("WHAT IF (DELETE FROM t) ;", first)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("WHAT IF DELETE FROM t", "in brackets"),
        ("WHAT IF", "in brackets"),
        ("WHAT IF (DELETE FROM t SELECT 1", "does not end"),
        ("WHAT IF ( ; ) SELECT 1", "no change"),
        ("WHAT IF (DELETE FROM t)", "no query"),
        ("WHAT IF (DELETE FROM t WHERE x = ?) SELECT 1", "no markers"),
        ("WHAT IF (DELETE FROM t WHERE x = 'a) SELECT 1", "cannot be read"),
    ],
)
def test_what_is_wrong_is_told(text: str, said: str) -> None:
    with pytest.raises(ProgrammingError, match=said):
        read_what_if(text)
