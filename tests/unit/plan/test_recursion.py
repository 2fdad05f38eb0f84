"""Recursive tables that read each other: which of them is begun next, and with what, as text and as a plan."""

from __future__ import annotations

import pytest
from sqlglot import exp

from imp_driver.parse.statement import parse
from imp_driver.plan.nodes import Fixpoint, every
from imp_driver.plan.recursion import as_begun, open_recurrences
from imp_driver.plan.recursive_form import beginnings, components, name_of, unrolled_text
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import SchemaColumn
from tests.unit.tables import plan_of

LATER = (
    "WITH RECURSIVE third(a) AS (SELECT a FROM third UNION SELECT a + 1 FROM second), "
    "second(a) AS (SELECT a FROM third UNION SELECT a + 1 FROM first UNION SELECT a FROM second), "
    "first(a) AS (SELECT a FROM third UNION SELECT id FROM r) SELECT a FROM third"
)
SCHEMA = (SchemaColumn("id", "integer", True),)


def component(text: str) -> tuple[exp.CTE, ...]:
    tree = parse(text).tree
    assert tree is not None
    (found,) = components(tree.args["with_"])
    return found


def test_a_table_without_a_base_is_begun_by_a_step_over_those_before_it() -> None:
    found = [(name_of(common), first.sql()) for common, first in beginnings(component(LATER))]
    assert found == [("first", "SELECT id FROM r"), ("second", "SELECT a + 1 FROM first"), ("third", "SELECT a + 1 FROM second")]


def test_a_plan_has_them_in_the_same_order() -> None:
    (fixpoint,) = [each for each in every(plan_of(LATER, SCHEMA)) if isinstance(each, Fixpoint)]
    begun = as_begun(fixpoint)
    assert [len(each.bases) for each, _ in begun] == [1, 0, 0]
    assert begun[-1][0] is fixpoint.relations[0]
    before = [each.number for each, _ in begun]
    assert [[read.number for read in open_recurrences(first)] for _, first in begun] == [[], before[:1], before[1:2]]


def test_the_columns_of_an_unrolled_query_are_of_tables_in_this_order() -> None:
    names = [each.alias for each in component_names(unrolled_text(LATER))]
    assert names[:3] == ["imp_base_of_first", "imp_base_of_second", "imp_base_of_third"]


def component_names(text: str) -> list[exp.CTE]:
    tree = parse(text).tree
    assert tree is not None
    return list(tree.args["with_"].expressions)


def test_what_nothing_begins_is_named() -> None:
    endless = LATER.replace("SELECT id FROM r", "SELECT a FROM second")
    with pytest.raises(Refused) as raised:
        plan_of(endless, SCHEMA)
    assert "has no branch that does not read it" in raised.value.detail
    with pytest.raises(Refused):
        list(beginnings(component(endless)))
