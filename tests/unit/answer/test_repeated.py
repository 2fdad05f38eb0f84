"""The same query at the same versions: its rows are known, as long as nothing says that they may be others."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pytest

from imp_driver.answer.finish import Finish
from imp_driver.middleware import Middleware
from imp_driver.parse.moment import TODAY
from imp_driver.plan.nodes import Plan
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import Floats, SketchMode
from imp_driver.values.options import Options
from tests.soundness.engine import drained
from tests.unit.answer.lake_table import LakeTable
from tests.unit.answer.test_answers import QUERY, World
from tests.unit.answer.test_moment import FIRST, SCHEMA, _row


@pytest.fixture
def finished(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """The plans whose rows were computed."""
    plans: list[Plan] = []
    compute = Finish.answer

    def answer(self: Finish, plan: Plan, *, may_tie: bool = True) -> pa.Table:
        plans.append(plan)
        return compute(self, plan, may_tie=may_tie)

    monkeypatch.setattr(Finish, "answer", answer)
    return plans


def _why_not(world: World) -> Reason | None:
    found = world.ask(QUERY)[1].not_answered
    return None if found is None else found.reason


def test_rows_are_computed_once_for_each_version(finished: list[Plan]) -> None:
    world = World()
    for _ in range(3):
        report = world.checked(QUERY)
    assert (len(finished), report.served_by, report.decision) == (1, ServedBy.STATE, Decision.FRESH)
    world.commit((7, 1, 3, 9))
    for _ in range(2):
        report = world.checked(QUERY)
    assert (len(finished), report.served_by, report.version) == (2, ServedBy.STATE, world.warehouse.newest("r"))
    (relation,) = world.sketches.relations.registry.relations()
    assert relation.usage.counts.answers == 5


def test_another_connection_has_the_rows_too(finished: list[Plan]) -> None:
    world = World()
    world.checked(QUERY)
    other = Middleware(world.session, world.warehouse, world.sketches, Options(answers=True))
    assert len(drained(other.run(Execution(QUERY)).stream)) == 3
    assert len(finished) == 1
    exact = Middleware(world.session, world.warehouse, world.sketches, Options(answers=True, floats=Floats.SPARK))
    assert len(drained(exact.run(Execution(QUERY)).stream)) == 3
    assert len(finished) == 2


def test_values_that_are_equal_are_not_the_same(finished: list[Plan]) -> None:
    world = World()
    text = "SELECT g, sum(a) AS s, ? AS v FROM r GROUP BY g"
    for value in (1, 1.0, True, 0.0, -0.0, "1"):
        for _ in range(2):
            rows, _ = world.ask(text, (value,))
            assert {repr(row[-1]) for row in rows} == {repr(value)}
    assert len(finished) == 6


def test_who_may_not_read_the_table_gets_none_of_its_rows() -> None:
    world = World()
    world.checked(QUERY)
    world.session.hidden.add("r")
    assert _why_not(world) is Reason.NOT_PERMITTED
    world.session.hidden.clear()
    world.session.rules = True
    assert _why_not(world) is Reason.NOT_PERMITTED


def test_states_that_are_dropped_answer_no_more(finished: list[Plan]) -> None:
    world = World()
    world.checked(QUERY)
    world.path.run(Execution("DROP STATE ALL"))
    assert world.checked(QUERY).decision is Decision.CAPTURED
    assert len(finished) == 2


def test_a_template_that_the_guard_has_disabled_runs_unchanged() -> None:
    world = World()
    report = world.checked(QUERY)
    world.sketches.relations.guard.record((str(report.template),), "other rows")
    assert _why_not(world) is Reason.TEMPLATE_DISABLED


def test_rows_that_are_compared_are_computed(finished: list[Plan]) -> None:
    world = World(sketch=SketchMode.SHADOW)
    for _ in range(2):
        world.checked(QUERY)
    assert len(finished) == 2


def test_many_rows_are_not_kept(finished: list[Plan]) -> None:
    world = World()
    world.commit(*((number, number, number, number) for number in range(10_000)))
    for _ in range(2):
        world.checked(QUERY)
    assert len(finished) == 2


def test_the_next_day_has_other_rows(tmp_path: Path, finished: list[Plan]) -> None:
    sales = LakeTable(tmp_path, "sales", SCHEMA, _row, zone="UTC")
    text = "SELECT k, sum(x) AS s FROM sales WHERE d < current_date() GROUP BY k"
    assert TODAY not in text
    for days in (0, 0, 1, 1, 0):
        sales.go_to(FIRST + datetime.timedelta(days=days))
        sales.ask(text)
        sales.settle()
    computed = len(finished)
    sales.go_to(FIRST)
    sales.ask(text)
    assert len(finished) == computed
    for hour in (1, 2):
        sales.go_to(datetime.datetime(2024, 3, 1, hour, tzinfo=datetime.UTC))
        sales.ask("SELECT k, max(t) < now() AS is_past FROM sales GROUP BY k")
    assert len(finished) == computed + 2
    sales.close()
