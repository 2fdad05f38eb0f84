"""The adversarial cases: the calculus refuses what would be wrong, and each refusal is shown to be needed."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import sqlglot

from imp_driver.plan.nodes import Plan, scans
from imp_driver.plan.resolve import resolve
from imp_driver.safety.setting import Assignment, Setting
from imp_driver.safety.verdict import judge
from tests.soundness.attack import assignments, attack
from tests.soundness.cases import ACCEPTED, CASES, Case
from tests.soundness.interpret import bag, evaluate
from tests.soundness.tables import COLUMNS, Catalog, Database, SignFacts
from tests.soundness.values import Value


def _plan(text: str) -> Plan:
    return resolve(sqlglot.parse_one(text, read="spark"), Catalog())


def database_of(case: Case) -> Database:
    return {name: [dict(zip(COLUMNS[name], row, strict=True)) for row in rows] for name, rows in (("r", case.r), ("s", case.s))}


def _assignment(plan: Plan, case: Case) -> Assignment:
    columns = {}
    for scan in scans(plan):
        if scan.occurrence in case.cut:
            name = case.cut[scan.occurrence][0]
            columns[scan.occurrence] = next(attribute.identifier for attribute in scan.output if attribute.name == name)
    return Assignment(columns, dict.fromkeys(columns, 0) if case.step else {})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cut_is_refused_with_its_reason(case: Case) -> None:
    plan = _plan(case.text)
    verdict = judge(plan, Setting(_assignment(plan, case), SignFacts(case.nonnegative), may_pin=False))
    assert verdict.refusal is case.refusal, "\n".join(verdict.derivation)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_using_the_cut_would_be_wrong(case: Case) -> None:
    plan, database = _plan(case.text), database_of(case)

    def is_kept(occurrence: int, row: Mapping[str, Value]) -> bool:
        return occurrence not in case.cut or row[case.cut[occurrence][0]] in case.cut[occurrence][1]

    assert bag(plan, evaluate(plan, database, is_kept)) != bag(plan, evaluate(plan, database))


@pytest.mark.parametrize("text", ACCEPTED)
def test_some_cut_of_an_accepted_shape_needs_no_pin(text: str) -> None:
    import random

    plan, chance = _plan(text), random.Random(1)
    found = [each for _ in range(30) for each in assignments(plan, chance)]
    assert any(judge(plan, Setting(each, SignFacts(True), may_pin=False)).is_safe for each in found)


def test_every_shape_that_is_refused_somewhere_has_a_counterexample() -> None:
    tally = attack(3_000, 11, with_unsafe=True)
    assert tally.differences == ()
    assert tally.counterexamples > 50


def test_derivation_reads_as_text() -> None:
    plan = _plan("SELECT g FROM r GROUP BY g HAVING count(*) > 3 AND avg(a) < 3")
    (scan,) = scans(plan)
    verdict = judge(plan, Setting(Assignment({scan.occurrence: scan.output[2].identifier})))
    assert verdict.derivation == (
        "FREE select g",
        "  FREE filter avg < 3",
        "    BOUNDED filter count > 3, pinned: the sketch covers all its rows",
        "      BOUNDED group by g: a group may be partial, COUNT(*) is at most that of the whole group, AVG(a) is unknown",
        "        ALIGNED r (occurrence 0) is cut on x",
    )
