"""Queries that differ in constants of their conditions are answered by one parse."""

from __future__ import annotations

import pytest

from imp_driver.parse import statement as statements
from imp_driver.reasons import Decision, Reason, ServedBy
from imp_driver.snapshot.reader import Reader
from imp_driver.values.execution import Execution
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.refusal import Refused
from tests.unit.answer.test_answers import World


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts whose trees were asked of the parser."""
    texts: list[str] = []
    inner = statements._tree

    def tree(text: str) -> object:
        texts.append(text)
        return inner(text)

    monkeypatch.setattr(statements, "_tree", tree)
    return texts


TEMPLATES = [
    "SELECT g, sum(a) AS alike_{kind} FROM r GROUP BY g HAVING sum(a) > {value}",
    "SELECT g, count(*) AS alike_{kind} FROM r WHERE g >= {value} AND g <> -{value} GROUP BY g",
    "SELECT max(s) AS alike_{kind} FROM (SELECT g, sum(a) AS s FROM r GROUP BY g) WHERE s < {value}",
    "SELECT g, sum(a) AS alike_{kind} FROM r GROUP BY g ORDER BY 2 DESC, g LIMIT {value} OFFSET 1",
    "SELECT g, a AS alike_{kind} FROM r WHERE a >= {value} ORDER BY a, g, id LIMIT {value}",
]


@pytest.mark.parametrize("template", TEMPLATES, ids=range(len(TEMPLATES)))
def test_the_rows_are_those_of_each_text(template: str, parses: list[str]) -> None:
    world = World()
    for value in (0, 1, 2):
        world.checked(template.format(kind="rows", value=value))
        assert world.sketches.relations.background.settle(30)
    parses.clear()
    for value in range(2, 8):
        report = world.checked(template.format(kind="rows", value=value))
        assert report.served_by is ServedBy.STATE
        if value == 4:
            world.commit((6, 1, 3, 9))
    assert parses == []


def test_the_template_is_that_of_the_text_itself() -> None:
    world = World()
    text = "SELECT g, sum(a) AS alike_template FROM r WHERE a > {0} GROUP BY g ORDER BY 2, g LIMIT {0}"
    for value in (1, 2):
        world.checked(text.format(value))
    statement, execution = statements.parse(text.format(30)), Execution(text.format(30))
    assert statement.instance is not None
    alike = world.path._reader.read_alike(statement.instance, execution)
    assert alike.template_text == world.path._reader.read(statement, execution).template_text
    assert "LIMIT 30" in alike.template_text


def test_a_question_is_recorded_once_for_all_of_them() -> None:
    world = World()
    text = "SELECT g, min(a) AS alike_asked FROM r GROUP BY g HAVING min(a) < {}"
    for value in range(5):
        world.checked(text.format(value))
    (question,) = (each for each in world.sketches.questions.every() if "alike_asked" in each.text)
    assert question.runs == 5


@pytest.mark.parametrize("options", [{"sketch": SketchMode.SHADOW}, {"sketch_guard": 1.0}, {"answers": False}])
def test_what_is_compared_or_not_answered_is_read_as_it_is_written(options: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    def unasked(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Reader, "read_alike", unasked)
    world = World(**options)
    for value in range(4):
        world.checked(f"SELECT g, sum(a) AS alike_compared FROM r GROUP BY g HAVING sum(a) > {value}")


def test_in_a_transaction_texts_are_read_as_they_are_written() -> None:
    world = World()
    text = "SELECT g, sum(a) AS alike_pinned FROM r GROUP BY g HAVING sum(a) > {}"
    for value in range(3):
        world.checked(text.format(value))
    before = world.ask(text.format(-1))[0]
    world.path.run(Execution("BEGIN"))
    assert world.ask(text.format(-1))[0] == before
    world.commit((6, 1, 3, 9))
    assert world.ask(text.format(-2))[0] == before
    world.path.run(Execution("COMMIT"))
    assert world.ask(text.format(-3))[0] != before


def test_what_has_no_answer_with_markers_is_read_as_it_is_written_and_tried_ever_more_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    tries: list[object] = []

    def refuse(*given: object) -> None:
        tries.append(given)
        raise Refused(Reason.NOT_SAFE)

    monkeypatch.setattr(Reader, "read_alike", refuse)
    for value in range(30):
        report = world.checked(f"SELECT g, sum(a) AS alike_refused FROM r GROUP BY g HAVING sum(a) > {value - 20}")
        assert report.served_by is ServedBy.STATE
    assert 4 <= len(tries) < 10


def test_an_unexpected_failure_leaves_the_query_as_it_is(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    world = World()
    text = "SELECT g, sum(a) AS alike_failed FROM r GROUP BY g HAVING sum(a) > {}"
    for value in range(2):
        world.checked(text.format(value))

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Reader, "read_alike", fail)
    report = world.checked(text.format(2))
    assert (report.decision, report.reason) == (Decision.NOT_USED, Reason.INTERNAL)
    assert "ZeroDivisionError" in caplog.text


def test_a_text_that_stands_for_today_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    text = "SELECT g, sum(a) AS alike_today FROM r GROUP BY g HAVING sum(a) > 0 OR '1' = '{}'"
    for value in ("1", "2", "3"):
        world.checked(text.format(value))
    report = world.ask(text.format("today"))[1]
    assert report.served_by is ServedBy.SPARK
