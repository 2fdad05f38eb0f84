"""Only the table reference changes in the text."""

from __future__ import annotations

import pytest

from imp_driver.parse.analysis import levels_of
from imp_driver.parse.statement import parse
from imp_driver.rewrite.splice import find_reference, pinned


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
    statement = parse(text)
    assert pinned(text, find_reference(statement, levels_of(statement).scan), 7, "`a` >= 3") == expected


def test_without_condition_the_version_alone_is_pinned() -> None:
    text = "select a from r group by a having count(*) > 1"
    statement = parse(text)
    reference = find_reference(statement, levels_of(statement).scan)
    assert pinned(text, reference, 2, None) == "select a from (SELECT * FROM r VERSION AS OF 2) AS `r` group by a having count(*) > 1"
