"""Only the table reference changes in the text."""

from __future__ import annotations

import pytest

from imp_driver.delta.contract import SchemaColumn
from imp_driver.parse.statement import parse
from imp_driver.plan.nodes import scans
from imp_driver.plan.resolve import resolve
from imp_driver.rewrite.splice import Pin, TableReference, find_reference, pinned
from tests.unit.tables import OneSchema

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
