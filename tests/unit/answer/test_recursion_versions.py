"""Recursions at old versions, without a JVM: what a text, a view and a transaction ask for, and by which code that is refused."""

from __future__ import annotations

import pytest

from imp_driver.errors import Error, NotSupportedError, OperationalError
from imp_driver.ports import View, ViewColumn
from imp_driver.reasons import Decision, ServedBy
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import RecursionPlace
from tests.unit.answer.viewing import Viewed

REACH = "WITH RECURSIVE p(a, b) AS (SELECT g, x FROM {} UNION SELECT l.g, p.b FROM {} l JOIN p ON l.x = p.a) SELECT a, b FROM p"
OLD = "r VERSION AS OF 1"


def world(place: RecursionPlace = RecursionPlace.PROCESS) -> Viewed:
    found = Viewed(recursion=place)
    found.warehouse.commit("r", [(1, 1, 2, 0)])
    found.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0)])
    found.view("v", REACH.format("r", "r"))
    found.viewing.views["w"] = View("SELECT a FROM v", ("spark_catalog", "default"), (ViewColumn("a", "a", "integer"),), is_ansi=True)
    found.warehouse.connection.execute("CREATE VIEW w AS SELECT a FROM v")
    return found


REFUSED: dict[str, tuple[str, type[Error]]] = {
    "a version of which there is no state": (REACH.format(OLD, OLD), NotSupportedError),
    "several versions": (REACH.format(OLD, "r"), NotSupportedError),
    "a view beside a version": ("SELECT v.a FROM v JOIN s VERSION AS OF 0 ON true", OperationalError),
    "a view over it": ("SELECT w.a FROM w JOIN s VERSION AS OF 0 ON true", OperationalError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_old_version_has_one_code(name: str) -> None:
    text, kind = REFUSED[name]
    with pytest.raises(kind, match="OLD_VERSION") as raised:
        world().ask(text)
    assert "TIME_TRAVEL" not in str(raised.value)


@pytest.mark.parametrize("name", ["several versions", "a view beside a version"])
def test_explanations_have_the_same_code(name: str) -> None:
    lines = " ".join(str(row[0]) for row in world().ask(f"EXPLAIN SKETCH {REFUSED[name][0]}")[0])
    assert "OLD_VERSION" in lines
    assert "TIME_TRAVEL" not in lines


def test_the_version_that_is_held_is_read() -> None:
    one = world()
    rows = sorted(one.ask(REACH.format("r", "r"))[0])
    assert sorted(one.ask(REACH.format("r VERSION AS OF 2", "r VERSION AS OF 2"))[0]) == rows == [(1, 2), (1, 3), (2, 3)]


def at_once(one: Viewed, text: str) -> None:
    one.path.run(Execution(text))


@pytest.mark.parametrize("text", [REACH.format("r", "r"), "SELECT * FROM v"])
def test_a_transaction_captures_what_is_the_newest_still(text: str) -> None:
    one = world()
    at_once(one, "BEGIN")
    rows, report = one.ask(text)
    assert (report.served_by, report.decision) == (ServedBy.STATE, Decision.CAPTURED)
    one.warehouse.now = 1e18
    one.warehouse.commit("r", [(1, 1, 2, 0), (2, 2, 3, 0), (3, 3, 4, 0)])
    assert one.ask(text)[0] == rows
    at_once(one, "COMMIT")
    after, report = one.ask(text)
    # A view is brought up to date before it is read.
    assert report.decision is (Decision.FRESH if text.endswith("v") else Decision.MAINTAINED)
    assert (len(rows), len(after)) == (3, 6)


def test_a_transaction_captures_no_old_version_and_says_what_to_do() -> None:
    one = world()
    at_once(one, "BEGIN")
    one.warehouse.now = 1e18
    one.warehouse.commit("r", [(1, 1, 2, 0)])
    with pytest.raises(NotSupportedError, match=r"OLD_VERSION: .* COMMIT and ask again, or have Spark compute it there"):
        one.ask(REACH.format("r", "r"))
    with pytest.raises(OperationalError, match=r"OLD_VERSION: .* COMMIT and ask again"):
        one.ask("SELECT * FROM v")
    at_once(one, "COMMIT")
    assert one.ask(REACH.format("r", "r"))[0] == [(1, 2)]


@pytest.mark.parametrize("text", [REACH.format("r", "r"), "SELECT * FROM v"])
def test_a_transaction_asks_spark_for_an_old_version_where_it_may(text: str) -> None:
    one = world(RecursionPlace.AUTO)
    at_once(one, "BEGIN")
    one.warehouse.now = 1e18
    one.warehouse.commit("r", [(1, 1, 2, 0)])
    for _ in range(2):
        rows, report = one.ask(text)
        assert (sorted(rows), report.served_by) == ([(1, 2), (1, 3), (2, 3)], ServedBy.SPARK_BY_ROUNDS)
    # The second time nothing has changed.
    assert report.detail.startswith("followed: 0 rows gone, 0 new")
    at_once(one, "COMMIT")
    assert one.ask(text)[0] == [(1, 2)]
