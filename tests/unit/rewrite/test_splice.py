"""Only the table reference changes in the text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from imp_driver.parse.statement import parse
from imp_driver.plan.nodes import scans
from imp_driver.plan.resolve import resolve
from imp_driver.ports import View
from imp_driver.reasons import Reason
from imp_driver.rewrite.splice import Pin, TableReference, check_every, find_reference, pin_of, pinned
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import OneSchema, Views, view_of

SCHEMA = (SchemaColumn("a", "integer", True), SchemaColumn("b", "string", True), SchemaColumn("c", "long", True))


def _references(text: str) -> list[TableReference]:
    statement = parse(text)
    assert statement.tree is not None
    return [find_reference(statement, scan.place) for scan in scans(resolve(statement.tree, OneSchema(SCHEMA)))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "SELECT a, avg(b) -- kept\nFROM r500 WHERE c > ? GROUP BY a HAVING avg(b) > ?",
            "SELECT a, avg(b) -- kept\nFROM (SELECT * FROM r500 VERSION AS OF 7 WHERE `a` >= 3) AS `r500` "
            "WHERE c > ? GROUP BY a HAVING avg(b) > ?",
        ),
        (
            "select ?, t.a from sales.`odd t` t group by t.a having count(*) > 1",
            "select ?, t.a from (SELECT * FROM sales.`odd t` VERSION AS OF 7 WHERE `a` >= 3) t group by t.a having count(*) > 1",
        ),
        (
            "select a from (select a from r as x where b = '?') q group by a having count(*) > 1",
            "select a from (select a from (SELECT * FROM r VERSION AS OF 7 WHERE `a` >= 3) as x where b = '?') q "
            "group by a having count(*) > 1",
        ),
    ],
)
def test_pinned(text: str, expected: str) -> None:
    (reference,) = _references(text)
    assert pinned(parse(text), [Pin(reference, 7, "`a` >= 3")]) == expected


def test_without_condition_the_version_alone_is_pinned() -> None:
    text = "select a from r group by a having count(*) > 1"
    (reference,) = _references(text)
    pinned_text = pinned(parse(text), [Pin(reference, 2)])
    assert pinned_text == "select a from (SELECT * FROM r VERSION AS OF 2) AS `r` group by a having count(*) > 1"


def test_several_references_are_replaced_each_in_its_place() -> None:
    text = "with q as (select a from r) select q.a, s.b from q join s on q.a = s.a where q.a in (select a from r x)"
    pins = [Pin(reference, 3, condition) for reference, condition in zip(_references(text), ("`a` >= 1", None, "`a` < 9"), strict=True)]
    assert pinned(parse(text), pins) == (
        "with q as (select a from (SELECT * FROM r VERSION AS OF 3 WHERE `a` >= 1) AS `r`) select q.a, s.b from q "
        "join (SELECT * FROM s VERSION AS OF 3) AS `s` on q.a = s.a where q.a in "
        "(select a from (SELECT * FROM r VERSION AS OF 3 WHERE `a` < 9) x)"
    )


VIEWS = Views(
    SCHEMA,
    {
        ("c", "s", "v"): view_of("SELECT r.a, r.c FROM r, u.w WHERE w.k = a -- end", "a k integer", "c `odd` long"),
        ("c", "u", "w"): view_of("with r as (select a from R) select a from r", "a k integer", schema="u"),
    },
)


def replace_views(name: str, view: View) -> Views:
    return Views(SCHEMA, {**VIEWS.views, ("c", "s", name): view})


def _pinned(text: str, tables: tuple[str, ...]) -> str:
    """Pin some tables at version 3, the first occurrence cut."""
    statement = parse(text)
    assert statement.tree is not None
    found = [scan for scan in scans(resolve(statement.tree, VIEWS)) if scan.table[-1] in tables]
    pins = [pin_of(statement, scan, 3) for scan in found]
    return pinned(statement, [replace(pins[0], condition="`a` >= 1"), *pins[1:]])


def test_view_is_replaced_by_its_text_with_full_names() -> None:
    assert _pinned("select ?, k from S.v x where k = '?'", ("r",)) == (
        "select ?, k from (SELECT CAST(`a` AS INT) AS `k`, CAST(`c` AS BIGINT) AS ```odd``` FROM (SELECT r.a, r.c FROM "
        "(SELECT * FROM `c`.`s`.`r` VERSION AS OF 3 WHERE `a` >= 1) AS `r`, "
        "(SELECT CAST(`a` AS INT) AS `k` FROM (with r as (select a from (SELECT * FROM `c`.`u`.`r` VERSION AS OF 3) AS `R`) "
        "select a from r\n)) AS `w` WHERE w.k = a -- end\n)) x where k = '?'"
    )


def test_only_views_with_a_pinned_table_are_replaced() -> None:
    text = "select one.k from s.v one join s.q on one.k = q.k"
    views = replace_views("q", view_of("select t.a from t, s.v", "a k integer"))
    statement = parse(text)
    assert statement.tree is not None
    pins = [pin_of(statement, scan, 5) for scan in scans(resolve(statement.tree, views)) if scan.table[-1] == "t"]
    assert pinned(statement, pins) == (
        "select one.k from s.v one join (SELECT CAST(`a` AS INT) AS `k` FROM (select t.a from "
        "(SELECT * FROM `c`.`s`.`t` VERSION AS OF 5) AS `t`, `c`.`s`.`v`\n)) AS `q` on one.k = q.k"
    )
    assert pinned(statement, []) == text


def test_view_that_is_read_twice_is_replaced_in_each_place() -> None:
    statement = parse("select 1 from u.w join u.w as x on w.k = x.k")
    assert statement.tree is not None
    first, second = scans(resolve(statement.tree, VIEWS))
    pins = [replace(pin_of(statement, first, 3), condition="`a` < 1"), replace(pin_of(statement, second, 3), condition="`a` > 9")]
    text = pinned(statement, pins)
    assert text.index("`a` < 1") < text.index(" join (SELECT CAST") < text.index("`a` > 9") < text.index(" as x on")
    assert text.count("VERSION AS OF 3") == 2


def _checked(text: str, views: Views = VIEWS) -> str:
    statement = parse(text)
    assert statement.tree is not None
    pins = [pin_of(statement, scan, 3) for scan in scans(resolve(statement.tree, views))]
    check_every(statement, pins)
    return pinned(statement, pins)


def test_a_table_that_stays_is_refused() -> None:
    value = "(select max(c) from s)"
    assert _checked(f"select a from r where c > {value}").count("VERSION AS OF 3") == 2
    assert _checked(f"with q as (select b from t) select a from r where c > {value}").count("VERSION AS OF 3") == 2
    assert _checked(f"with q as (select a from r) select a from q where a > {value}").count("VERSION AS OF 3") == 2
    # A value that stands there twice is computed once, and has one place.
    with pytest.raises(Refused) as caught:
        _checked(f"select a, {value} as m, {value} + 1 as n from r")
    assert (caught.value.reason, caught.value.detail) == (Reason.READ_TWICE, "s")


@pytest.mark.parametrize(
    "text", ["select a from r, (select max(c) as m, {0} as x, {0} as y from r)", "with q as (select b from z) select a from r"]
)
def test_a_name_that_stays_in_a_view_is_refused(text: str) -> None:
    views = replace_views("again", view_of(text.format("(select max(c) from t)"), "a k integer"))
    with pytest.raises(Refused) as caught:
        _checked("select k from again", views)
    assert caught.value.reason is Reason.READ_TWICE
