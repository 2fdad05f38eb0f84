"""What stands together: cuts of one block that are proven as one, and what former processes have chosen."""

from __future__ import annotations

import pytest

from imp_driver.maintain.choice import applied, choose
from imp_driver.maintain.choices import Choices
from imp_driver.maintain.request import Request
from imp_driver.parse.template import Template
from imp_driver.plan.bind import bind
from imp_driver.values.cuts import CutName
from imp_driver.values.tables import SchemaColumn, TableSnapshot
from tests.unit.maintain.test_choice import Files
from tests.unit.tables import analysis_of

SCHEMA = tuple(SchemaColumn(name, "integer", True) for name in ("a", "b", "c", "d"))
TEXT = "SELECT r.a, r.b FROM r JOIN s ON r.b = s.d GROUP BY r.a, r.b HAVING count(*) > 5"
A, B = CutName(100, 0), CutName(100, 1)
OF_R, OF_S = CutName(100, None, 0, "c"), CutName(100, None, 1, "c")


def request_of(text: str = TEXT, clustered: str = "c") -> Request:
    analysis = analysis_of(text, SCHEMA)
    snapshots: dict[tuple[str, ...], TableSnapshot] = {
        ("r",): TableSnapshot("/r", "r", 0, SCHEMA, 2000, Files(20, 1000, "a")),
        ("s",): TableSnapshot("/s", "s", 0, SCHEMA, 2000, Files(20, 1000, clustered)),
    }
    return Request(Template("t", "t"), analysis, bind(analysis.block, None, analysis.columns), snapshots, (), 100)


def test_each_table_is_cut_by_the_column_that_its_files_are_clustered_by() -> None:
    request = request_of()
    assert choose(request) == (A, OF_S)
    found = applied((A, OF_S), request)
    assert (found.names, found.partial is None) == ((A, OF_S), False)


@pytest.mark.parametrize("having", ["count(*) < 5", "avg(s.d) > 3"])
def test_a_group_that_part_of_it_could_bring_into_the_answer_has_one_cut(having: str) -> None:
    request = request_of(TEXT.replace("count(*) > 5", having))
    assert choose(request) == (A,)
    assert applied((A, OF_S), request).names == (A,)


def test_a_key_that_other_columns_equal_only_in_some_rows_stands_alone() -> None:
    """The rows of r without a partner form groups of their own, whatever s is cut to."""
    text = "SELECT r.a FROM r LEFT JOIN s ON r.a = s.d GROUP BY r.a HAVING count(s.c) > 5"
    assert choose(request_of(text, "b"))[1:] == ()


@pytest.mark.parametrize("names", [(A, B), (A, OF_R), (OF_S, CutName(100, None, 1, "a")), (A, OF_S, B)])
def test_what_is_not_proven_together_is_not_cut_together(names: tuple[CutName, ...]) -> None:
    """States that several templates share have cuts of each."""
    assert applied(names, request_of()).names == names[:1]


def test_of_several_keys_of_a_former_process_the_newest_is_chosen() -> None:
    choices = Choices()
    choices.learn(["t"], (A, OF_S, B))
    assert choices.known("t") == (B, OF_S)
    choices.leave_out("t", B)
    assert choices.known("t") == (B, OF_S)
    choices.leave_out("t", OF_S)
    assert choices.known("t") == (B,)
    choices.learn(["t", "u"], ())
    assert (choices.known("t"), choices.known("u")) == ((B,), None)
