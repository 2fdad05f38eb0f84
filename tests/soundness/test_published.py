"""The published queries: what may be cut is accepted, and what may not is refused with its reason."""

from __future__ import annotations

import pytest
import sqlglot

from imp_driver.plan.nodes import Plan, scans
from imp_driver.plan.resolve import resolve
from imp_driver.safety.setting import Assignment, Facts, NoFacts, Setting
from imp_driver.safety.verdict import Verdict, judge
from tests.soundness.published import OWN_TABLES, Catalog, Cut, Published, SignFacts
from tests.soundness.published_tpch import TPC_H

ROWS = (*OWN_TABLES, *TPC_H)


def _plan(row: Published) -> Plan:
    return resolve(sqlglot.parse_one(row.text, read="spark"), Catalog())


def _assignment(plan: Plan, cut: Cut) -> Assignment:
    columns = {}
    for place, column in cut.columns.items():
        table, _, number = place.partition("#")
        found = [scan for scan in scans(plan) if scan.table == (table,)]
        assert number or len(found) == 1, f"{table} has several occurrences"
        scan = found[int(number or 0)]
        columns[scan.occurrence] = next(attribute.identifier for attribute in scan.output if attribute.name == column)
    return Assignment(columns, dict.fromkeys(columns, 0) if cut.in_step else {})


def _judged(row: Published, cut: Cut, *, may_pin: bool = False) -> Verdict:
    plan = _plan(row)
    facts: Facts = SignFacts() if cut.knows_signs else NoFacts()
    return judge(plan, Setting(_assignment(plan, cut), facts, may_pin=may_pin))


def _explained(verdict: Verdict) -> str:
    return "\n".join(verdict.derivation)


def _case(row: Published, cut: Cut) -> object:
    return pytest.param(row, cut, id=f"{row.name}: {cut.name}")


@pytest.mark.parametrize(("row", "cut"), [_case(row, cut) for row in ROWS for cut in row.accepted])
def test_cut_is_safe_without_pins(row: Published, cut: Cut) -> None:
    assert cut.refusal is None
    verdict = _judged(row, cut)
    assert verdict.is_safe, _explained(verdict)
    assert verdict.needs.pins == ()
    assert len(verdict.needs.undecided) == row.may_tie


@pytest.mark.parametrize(("row", "cut"), [_case(row, cut) for row in ROWS for cut in row.refused])
def test_cut_is_refused_with_its_reason(row: Published, cut: Cut) -> None:
    assert cut.refusal is not None
    verdict = _judged(row, cut)
    assert verdict.refusal is cut.refusal, _explained(verdict)


@pytest.mark.parametrize(("row", "cut"), [_case(row, cut) for row in ROWS for cut in row.refused if cut.safe_by_pinning])
def test_refused_cut_is_safe_when_a_subquery_is_covered_as_a_whole(row: Published, cut: Cut) -> None:
    verdict = _judged(row, cut, may_pin=True)
    assert verdict.is_safe, _explained(verdict)
    assert verdict.needs.pins


@pytest.mark.parametrize("cut", [Cut({"lineitem": "l_orderkey"}), Cut({"customer": "c_nationkey"})], ids=lambda cut: cut.name)
def test_top_of_revenue_rests_on_the_facts_about_its_factors(cut: Cut) -> None:
    row = next(row for row in TPC_H if row.name == "Q10")
    expected = {"l_extendedprice >= 0 in lineitem", "l_discount >= 0 AND l_discount <= 1 in lineitem"}
    assert _judged(row, cut).needs.facts == expected


def test_names_of_queries_and_cuts_are_unique() -> None:
    names = [(row.name, cut.name) for row in ROWS for cut in (*row.accepted, *row.refused)]
    assert len(set(names)) == len(names)
