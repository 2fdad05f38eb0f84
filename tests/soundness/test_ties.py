"""A top-k whose order may tie is a need of the proof, wherever it stands; what numbers or picks rows without one is refused."""

from __future__ import annotations

import random

import pytest
import sqlglot

from imp_driver.plan.nodes import Plan, children, scans
from imp_driver.plan.resolve import resolve
from imp_driver.safety.levels import Level, Refusal
from imp_driver.safety.setting import Assignment, Setting
from imp_driver.safety.verdict import Verdict, judge
from tests.soundness.tables import Catalog, SignFacts, random_database
from tests.soundness.ties import ends_decided

TOP = "(SELECT g, x, a FROM r ORDER BY a LIMIT 2)"
R = Refusal


def _plan(text: str) -> Plan:
    return resolve(sqlglot.parse_one(text, read="spark"), Catalog())


def _judged(text: str, column: str | None = None, *, may_pin: bool = False) -> Verdict:
    plan = _plan(text)
    columns = {} if column is None else {scans(plan)[0].occurrence: _identifier(plan, column)}
    return judge(plan, Setting(Assignment(columns), SignFacts(True), may_pin=may_pin))


def _identifier(plan: Plan, column: str) -> str:
    return next(attribute.identifier for attribute in scans(plan)[0].output if attribute.name == column)


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT x FROM {TOP} t WHERE a > 1",
        f"SELECT g, count(*) AS n FROM {TOP} t GROUP BY g",
        f"SELECT DISTINCT g FROM {TOP} t",
        f"SELECT t.g FROM {TOP} t JOIN s ON s.k = t.g",
        f"SELECT t.g FROM s LEFT JOIN {TOP} t ON s.k = t.g",
        f"SELECT t.g FROM s FULL JOIN {TOP} t ON s.k = t.g",
        f"SELECT k FROM s WHERE k IN (SELECT g FROM {TOP} t)",
        f"SELECT k FROM s WHERE NOT EXISTS (SELECT 1 FROM {TOP} t WHERE t.g = s.k)",
        f"SELECT k FROM s WHERE b > (SELECT max(a) FROM {TOP} t)",
        f"SELECT k FROM s WHERE b > (SELECT max(a) FROM {TOP} t WHERE t.g = s.k)",
        f"SELECT k FROM s UNION ALL SELECT g FROM {TOP} t",
        f"SELECT k FROM s EXCEPT SELECT g FROM {TOP} t",
        f"SELECT k FROM s INTERSECT SELECT g FROM {TOP} t",
        f"SELECT g, rank() OVER (ORDER BY a) AS n FROM {TOP} t",
        f"SELECT g, x, a FROM {TOP} t ORDER BY g, x, a LIMIT 1",
        "SELECT g, sum(a) AS f FROM r GROUP BY g ORDER BY f DESC LIMIT 2 OFFSET 1",
    ],
)
def test_every_operator_carries_the_need_upwards(text: str) -> None:
    verdict = _judged(text)
    assert verdict.is_safe
    assert verdict.step.derived.level is Level.FREE
    assert len(verdict.needs.undecided) == 1


def test_two_tops_are_two_needs() -> None:
    assert len(_judged(f"SELECT t.g FROM {TOP} t JOIN {TOP} u ON t.g = u.g").needs.undecided) == 2


@pytest.mark.parametrize(
    ("text", "column", "refusal"),
    [
        ("SELECT g, sum(a) AS f FROM r GROUP BY g ORDER BY f DESC LIMIT 2", "x", None),
        ("SELECT g, sum(a) AS f FROM r GROUP BY g ORDER BY f LIMIT 2", "x", R.ORDER_MAY_MOVE_AHEAD),
        ("SELECT g, sum(a) AS f FROM r GROUP BY g ORDER BY f LIMIT 2", "g", None),
        ("SELECT DISTINCT g, a FROM r ORDER BY a LIMIT 2", "x", None),
        (f"SELECT g FROM {TOP} t WHERE x = 1", "x", R.BELOW_A_BARRIER),
    ],
)
def test_order_that_may_tie_over_what_is_cut(text: str, column: str, refusal: Refusal | None) -> None:
    verdict = _judged(text, column)
    assert verdict.refusal is refusal
    assert len(verdict.needs.undecided) == (refusal is None)
    if refusal is None:
        assert verdict.step.derived.level is Level.BARRIER


def test_pin_keeps_the_need() -> None:
    verdict = _judged(f"SELECT g FROM {TOP} t WHERE x = 1", "x", may_pin=True)
    assert verdict.is_safe
    (pin,) = verdict.needs.pins
    assert verdict.needs.undecided[0] in _below(pin)


def _below(plan: Plan) -> list[Plan]:
    return [plan, *(each for child in children(plan) for each in _below(child))]


def test_top_for_each_row_cannot_be_checked() -> None:
    text = "SELECT k FROM s WHERE b > (SELECT a FROM r WHERE r.g = s.k ORDER BY x LIMIT 1)"
    assert not _judged(text).is_safe
    assert _judged(text.replace("x LIMIT", "a LIMIT")).is_safe


@pytest.mark.parametrize(
    ("function", "refusal"),
    [
        ("row_number() OVER (ORDER BY a)", R.ORDER_NOT_TOTAL),
        ("row_number() OVER (PARTITION BY g, x ORDER BY id)", R.ORDER_NOT_TOTAL),
        ("row_number() OVER (PARTITION BY g ORDER BY a, id, x)", None),
        ("rank() OVER (ORDER BY a)", None),
        ("percent_rank() OVER (ORDER BY a)", None),
        ("cume_dist() OVER (ORDER BY a)", None),
        ("lag(x) OVER (ORDER BY a)", R.ORDER_NOT_TOTAL),
        ("lead(x) OVER (PARTITION BY g ORDER BY a, id, x)", None),
        ("ntile(3) OVER (ORDER BY a)", R.ORDER_NOT_TOTAL),
        ("first_value(x) OVER (ORDER BY a RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", R.ORDER_NOT_TOTAL),
        ("last_value(x) OVER (PARTITION BY g ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)", R.ORDER_NOT_TOTAL),
        ("nth_value(x, 2) OVER (ORDER BY a, g, x, id)", None),
        ("sum(a) OVER (ORDER BY a)", None),
        ("sum(a) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", R.ORDER_NOT_TOTAL),
        ("sum(a) OVER (ORDER BY a, g, x, id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)", None),
        ("sum(a) OVER (ORDER BY a RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", None),
        ("sum(a) OVER (PARTITION BY g ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)", None),
    ],
)
def test_function_that_tells_ties_apart_needs_a_total_order(function: str, refusal: Refusal | None) -> None:
    assert _judged(f"SELECT g, {function} AS n FROM r").refusal is refusal


def test_equal_rows_may_not_exchange_two_numbers() -> None:
    one, other = "row_number() OVER (ORDER BY a, g, x, id)", "row_number() OVER (ORDER BY a DESC, g, x, id)"
    assert _judged(f"SELECT g, {one} AS n, {other} AS m FROM r").refusal is R.ORDER_NOT_TOTAL
    distinct = f"SELECT g, {one} AS n, {other} AS m FROM (SELECT DISTINCT id, g, x, a FROM r) t"
    assert _judged(distinct).is_safe


@pytest.mark.parametrize(
    ("condition", "refusal"),
    [
        ("n <= 2", None),
        ("n < 2", None),
        ("n = 1", None),
        ("2 >= n", None),
        ("n <= ?", None),
        ("n <= 2 AND n < 3", None),
        ("n = 2", R.WINDOW_NOT_DETERMINED),
        ("n = ?", R.WINDOW_NOT_DETERMINED),
        ("n >= 2", R.WINDOW_NOT_DETERMINED),
        ("2 <= n", R.WINDOW_NOT_DETERMINED),
        ("n <> 1", R.WINDOW_NOT_DETERMINED),
        ("n <= a", R.WINDOW_NOT_DETERMINED),
        ("n + 1 <= 2", R.WINDOW_NOT_DETERMINED),
        ("a = 2", R.WINDOW_NOT_DETERMINED),
        ("n <= 2 OR a = 2", R.WINDOW_NOT_DETERMINED),
        ("n <= 2 AND a = 2", R.BELOW_A_BARRIER),
    ],
)
@pytest.mark.parametrize("function", ["rank()", "dense_rank()", "row_number()"])
def test_first_ranks_are_covered_as_a_whole(function: str, condition: str, refusal: Refusal | None) -> None:
    order = "a DESC, id, g, x" if function == "row_number()" else "a DESC"
    text = f"SELECT id, m FROM (SELECT id, a, {function} OVER (PARTITION BY g ORDER BY {order}) AS n, x AS m FROM r) t WHERE {condition}"
    verdict = _judged(text, "x")
    assert verdict.refusal is refusal, verdict.derivation
    if refusal is None:
        assert verdict.step.derived.level is Level.BARRIER
    assert _judged(text, "g").refusal is None


def test_other_conditions_on_the_first_ranks_need_a_pin_of_these_alone() -> None:
    text = "SELECT id FROM (SELECT *, rank() OVER (ORDER BY a DESC) AS n FROM r) t WHERE n <= 2 AND g = 1"
    verdict = _judged(text, "x", may_pin=True)
    assert verdict.is_safe
    (pin,) = verdict.needs.pins
    assert any("first rows of each partition" in line and "pinned" in line for line in verdict.derivation)
    assert [attribute.name for attribute in pin.output][-1] == "n"


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("SELECT g, rank() OVER (ORDER BY f DESC) AS n FROM (SELECT g, count(*) AS f FROM r GROUP BY g) b", R.WINDOW_NOT_DETERMINED),
        ("SELECT id, row_number() OVER (ORDER BY a) AS n FROM r", R.ORDER_NOT_TOTAL),
        ("SELECT id, rank() OVER (ORDER BY a) AS n, sum(a) OVER (ORDER BY x) AS f FROM r", R.WINDOW_NOT_DETERMINED),
    ],
)
def test_ranks_that_no_rule_covers(text: str, refusal: Refusal) -> None:
    assert _judged(f"SELECT * FROM ({text}) t WHERE n <= 2", "x").refusal is refusal


def test_decided_means_that_the_neighbours_differ() -> None:
    chance, outcomes = random.Random(5), {True: 0, False: 0}
    (top,) = _judged("SELECT a, g FROM r ORDER BY a DESC, x LIMIT 1 OFFSET 1").needs.undecided
    for _ in range(200):
        database = random_database(chance, nonnegative=False)
        rows = sorted((row["a"] is None, -(row["a"] or 0), row["x"] is not None, row["x"] or 0) for row in database["r"])
        expected = all(rows[place - 1] != rows[place] for place in (1, 2) if place < len(rows))
        assert ends_decided(top, database) is expected
        outcomes[expected] += 1
    assert min(outcomes.values()) > 20
