"""Texts that differ in constants of conditions share one parse: with its values, the tree with markers is the text's own."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlglot import exp

from imp_driver.parse.statement import Statement, parse

numbers = st.one_of(
    st.integers(0, 10**17).map(str),
    st.decimals(0, 10**6, places=3).map(str),
)
counts = st.integers(0, 10**9 - 1).map(str)
texts = st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\\$'"), max_size=12).map(lambda each: f"'{each}'")
dates = st.dates(datetime.date(1, 1, 1)).map(lambda each: f"DATE '{each.isoformat()}'")
times = st.datetimes(datetime.datetime(1, 1, 1)).map(lambda each: f"TIMESTAMP '{each.isoformat(' ')}'")

TEMPLATES = (
    ("SELECT g, sum(a) AS s FROM r WHERE a > {} AND b BETWEEN {} AND -{} GROUP BY g", (numbers, numbers, numbers)),
    ("SELECT g, count(*) FROM r WHERE k IN ({}, {}) OR NOT (d >= {}) GROUP BY g HAVING sum(a) >= {}", (texts, texts, dates, numbers)),
    ("WITH w AS (SELECT g FROM r WHERE t < {}) SELECT g FROM w WHERE g <> {} ORDER BY 1 LIMIT 5", (times, texts)),
    ("SELECT a FROM r ORDER BY a LIMIT {} OFFSET {}", (counts, counts)),
    (
        "SELECT date_trunc('MONTH', d) AS m FROM r WHERE a = {} AND b IN (SELECT b FROM s WHERE c > {} GROUP BY date_trunc('DAY', d), b) "
        "AND e < {} GROUP BY date_trunc('MONTH', d) HAVING count(*) > {} ORDER BY date_trunc('MONTH', d)",
        (numbers, texts, numbers, numbers),
    ),
    ("SELECT avg(a) FROM r WHERE CAST({} AS DATE) < d AND (a <=> {}) AND substring(k, 1, 2) = {}", (texts, numbers, texts)),
    ("SELECT g FROM r WHERE a IN (SELECT b FROM s WHERE c = {}) UNION ALL SELECT g FROM r WHERE a < {} + 1", (numbers, numbers)),
)


def _with_values(statement: Statement) -> exp.Expr:
    assert statement.instance is not None
    tree = statement.alike.tree
    assert tree is not None
    values = statement.instance.values
    copy = tree.copy()
    for marker in list(copy.find_all(exp.Placeholder)):
        marker.replace(values[str(marker.this)].copy())
    return copy


def _learned(template: str, *constants: tuple[str, ...]) -> Statement:
    """Return the statement of the last text."""
    return [parse(template.format(*each)) for each in constants][-1]


@pytest.mark.parametrize(("template", "kinds"), TEMPLATES, ids=range(len(TEMPLATES)))
@given(data=st.data())
def test_with_its_values_the_tree_with_markers_is_the_text_s_own(
    template: str, kinds: tuple[st.SearchStrategy[str], ...], data: st.DataObject
) -> None:
    statement = _learned(template, *(tuple(data.draw(kind) for kind in kinds) for _ in range(4)))
    if statement.instance is not None:
        assert _with_values(statement) == statement.tree
    assert statement.tree == parse(f"{statement.text} ").tree


def test_the_third_text_needs_no_parse() -> None:
    first, second, third = (parse(f"SELECT u1 FROM r WHERE a > {number} AND k = 'x{number}' GROUP BY u1") for number in (1, 22, 333))
    assert first.instance is None
    assert second.instance is None
    assert third.instance is not None
    assert third.parsed is None
    assert [str(each) for each in third.instance.values.values()] == ["333", "'x333'"]
    assert third.alike is not third
    assert second.alike is second


@pytest.mark.parametrize(
    "template",
    [
        "SELECT a + {} AS u2 FROM r",
        "SELECT u3 FROM r ORDER BY {}",
        "SELECT u4 FROM r WHERE a > b + {}",
        "SELECT u5 FROM r WHERE d > e - INTERVAL {} DAYS",
        "SELECT u6, sum(a) FILTER (WHERE b > {}) AS s FROM r GROUP BY u6",
        "SELECT u7 FROM r GROUP BY u7 HAVING sum(CASE WHEN a > {} THEN 1 END) > b",
        "SELECT u8 FROM r VERSION AS OF {}",
        "SELECT u9 FROM r WHERE a > ? AND b > {}",
        "SELECT u10 FROM r WHERE k = '\\\\' AND b > {}",
        "SELECT u11 FROM r WHERE k LIKE '{}'",
        "SELECT u12 FROM r WHERE round(a, {}) > b",
        "SELECT u13 FROM r WHERE CASE WHEN a > {} THEN b > c ELSE c > b END",
        "SELECT u14 FROM r JOIN s ON r.a = s.a AND s.b > {}",
        "SELECT u15 FROM r TABLESAMPLE ({} ROWS)",
        "SELECT u16 FROM r LIMIT {} + 1",
    ],
)
def test_other_constants_are_no_values_of_a_pattern(template: str) -> None:
    assert _learned(template, ("1",), ("2",), ("3",)).instance is None


def test_texts_with_other_constants_elsewhere_are_of_other_patterns() -> None:
    template = "SELECT u20, {} AS one FROM r WHERE a > {} GROUP BY u20"
    assert _learned(template, ("1", "5"), ("1", "6"), ("1", "7")).instance is not None
    other = _learned(template, ("2", "5"))
    assert other.instance is None
    again = _learned(template, ("2", "8"))
    assert again.instance is not None
    assert _with_values(again) == again.tree


@pytest.mark.parametrize("constant", ["DATE '2026-13-01'", "DATE '2026-1-1'", "DATE 'today'"])
def test_what_is_no_certain_date_is_read_by_the_parser(constant: str) -> None:
    statement = _learned("SELECT u21 FROM r WHERE d > {} GROUP BY u21", ("DATE '2026-01-01'",), ("DATE '2026-02-01'",), (constant,))
    assert statement.instance is None


@example("12L")
@example("1e3")
@example("1D")
@given(numbers)
def test_numbers_of_other_forms_are_read_by_the_parser(number: str) -> None:
    # No text is one that was parsed before.
    statement = _learned("SELECT u22 FROM r WHERE a > {} GROUP BY u22", ("1",), ("2",), (f"/**/{number}",))
    assert (statement.instance is not None) == (number[-1].isdigit() and "e" not in number.lower())
    if statement.instance is not None:
        assert _with_values(statement) == statement.tree
