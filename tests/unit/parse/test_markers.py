"""Markers of a statement and the values that are given for them."""

from __future__ import annotations

from typing import Any

import pytest

from imp_driver.errors import ProgrammingError
from imp_driver.parse.markers import check_values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("SELECT 1", None),
        ("SELECT '?', `?`, 1 -- ?", None),
        ("SELECT ?, ?", [1, None]),
        ("SELECT :a, :b", {"a": 1, "b": 2, "unused": 3}),
        ("SELECT a FROM t WHERE a IN (?, ?)", [1, 2]),
        ("SELECT array_contains(?, a) FROM t", [[1, 2]]),
        ("SELECT 'no end, ?", None),
        ("SELECT $$is it?$$, $tag$?$tag$", None),
        ("SELECT 1 -- it goes on \\\n, doesn't it?\n", None),
        ("SELECT ${name?}", None),
        ("SELECT a:b FROM t WHERE c = :c", {"c": 1}),
        ("SELECT t.json:a, date:b, format:c FROM t WHERE id = :id", {"id": 1}),
        ("SELECT CAST(x AS STRUCT<date:DATE, key:INT>) FROM t WHERE a = :a", {"a": 1}),
        ("BEGIN step:LOOP LEAVE step; END LOOP; SELECT :a; END", {"a": 1}),
        ("SELECT slice(a, 1, :n), a[1:2] FROM t", {"n": 1}),
        ("SELECT 5 %(2)s, :n", {"n": 1, "2": 3}),
    ],
)
def test_values_that_match(text: str, values: Any) -> None:
    check_values(text, values)


@pytest.mark.parametrize(
    ("text", "values", "message"),
    [
        ("SELECT a FROM t WHERE a = ?", [1, 2, 3], "The statement has 1 ? marker, but 3 values were given."),
        ("SELECT a FROM t WHERE a = ? OR a = ?", [1], "The statement has 2 ? markers, but 1 value was given."),
        ("SELECT a FROM t WHERE a = ?", None, "The statement has 1 ? marker, but no values were given."),
        (
            "SELECT ?",
            {"a": 1},
            "The statement has 1 ? marker, whose values are a sequence; a mapping was given.",
        ),
        ("SELECT :a + :b + :c", {"b": 1}, "There is no value for :a, :c; given: b."),
        ("SELECT :a + 1", None, "There is no value for :a; given: none."),
        ("SELECT :a + 1", {}, "There is no value for :a; given: none."),
        (
            "SELECT ?, :b",
            [1],
            "The statement has ? markers and the marker :b at character 10; give all of them one style.",
        ),
        (
            "SELECT a FROM t WHERE a IN ?",
            [[1, 2, 3]],
            "The marker after IN at character 27 has a list; write IN (?, ?, ?) and give each of its values.",
        ),
        (
            "SELECT a FROM t WHERE a IN :l",
            {"l": [1, 2]},
            "The marker after IN at character 27 has a list; write IN (:l_1, :l_2) and give each of its values.",
        ),
        ("SELECT a FROM t WHERE a IN :l", {}, "There is no value for :l; given: none."),
        (
            "SELECT a FROM t WHERE a = %(a)s",
            {"a": 1},
            "Markers of values by name are written :a; %(a)s is no marker here.",
        ),
        ("SHOW TABLES", [1], "The statement has no ? markers, but 1 value was given."),
        (
            "SELECT a FROM t WHERE a = %s",
            [1],
            "The statement has no ? markers, but 1 value was given. Markers are ? for a sequence and :name for a mapping; "
            "%s is no marker for a sequence.",
        ),
        (
            "SELECT a FROM t WHERE a = $1",
            [1],
            "The statement has no ? markers, but 1 value was given. Markers are ? for a sequence and :name for a mapping; "
            "$1 is no marker for a sequence.",
        ),
        (
            "SELECT a FROM t WHERE a = :a",
            [1],
            "The statement has no ? markers, but 1 value was given. Markers are ? for a sequence and :name for a mapping; "
            ":a is no marker for a sequence.",
        ),
    ],
)
def test_values_that_do_not_match_are_told(text: str, values: Any, message: str) -> None:
    with pytest.raises(ProgrammingError) as caught:
        check_values(text, values)
    assert str(caught.value) == message


@pytest.mark.parametrize(("text", "values", "line", "column"), [("SELECT ?,\n  ?", [1], 2, 3), ("SELECT :b,\n:a, :a", {"b": 1}, 2, 1)])
def test_the_first_marker_without_a_value_is_blamed(text: str, values: Any, line: int, column: int) -> None:
    with pytest.raises(ProgrammingError) as caught:
        check_values(text, values)
    assert (caught.value.error_class, caught.value.sqlstate) == ("UNBOUND_SQL_PARAMETER", "42P02")
    position = caught.value.position
    assert position is not None
    assert (position.line, position.column, text[position.start or 0]) == (line, column, "?" if "?" in text else ":")
