"""The one protocol that figures are measured by.

A case begins with a cold start: every system is asked once. Then come rounds of warm-up, without and with changes, and the repetitions.
In each repetition the change is made once, for all systems; then they take turns, and another one is first each time: whoever asks first
after a change also pays for Delta's new snapshot, and drift of the machine meets all alike. Answers are compared in every round. All
rounds are timed and written down, by stage.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from benchmarks.harness import Answer, Rows, before_execution
from benchmarks.journal import EVERYONE, Page, Same
from benchmarks.records import Quantity, Stage
from benchmarks.report import line
from imp_driver.cli.answers import same
from imp_driver.reasons import Decision
from imp_driver.values.report import SketchReport

CAPTURES = (Decision.CAPTURED, Decision.RECAPTURED)


@dataclass(frozen=True, slots=True)
class Turn:
    """What a system did in one turn: rows to compare (None where its work gives none), what it spent, and its decision about a sketch."""

    rows: Rows | None
    spent: Mapping[Quantity, float]
    decision: str = ""


Way: TypeAlias = Callable[[], Turn]
"""Asks one system once."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How often.

    Attributes:
        repetitions: of each case.
        settling: rounds of warm-up on tables that do not change: some captures are put off until they are asked for again.
        warm_up: rounds of warm-up with the change; with the second one the tables of a join are read into memory.
        limit: seconds; where one round after the cold start takes longer, there are only ``fewest`` repetitions, and the record says so.
        clock: gives seconds.
    """

    repetitions: int = 10
    settling: int = 2
    warm_up: int = 2
    limit: float = 60.0
    fewest: int = 3
    clock: Callable[[], float] = field(default=time.perf_counter)


@dataclass(frozen=True, slots=True)
class Work:
    """What is done in one case.

    Attributes:
        ways: one for each system, the one to compare with first.
        change: made once in each round, timed; None where tables do not change.
        before: made before it, and not timed.
        questions: how often the systems take turns in one round.
        expected: the answer of each system where they are meant to differ; None where they must all be equal.
        same: says whether two answers are equal.
    """

    ways: Mapping[str, Way]
    change: Callable[[], object] | None = None
    before: Callable[[], object] | None = None
    questions: int = 1
    expected: Mapping[str, Rows] | None = None
    same: Same = same


def take_turns(page: Page, plan: Plan, work: Work) -> None:
    """Measure a case and write it down on its page."""
    _round(page, plan, work, Stage.COLD_START, 0, is_changing=False)
    longest = 0.0
    warm_up = plan.settling + (plan.warm_up if work.change else 0)
    for number in range(warm_up):
        longest = max(longest, _round(page, plan, work, Stage.WARM_UP, number, is_changing=number >= plan.settling))
    number = 0
    while number < plan.repetitions:
        if longest > plan.limit and number >= plan.fewest:
            page.shortened = f"{number} repetitions instead of {plan.repetitions}: one round took {longest:.0f} s"
            break
        longest = max(longest, _round(page, plan, work, Stage.MEASURED, number, is_changing=True))
        number += 1
    print(line(page.case), flush=True)


def turn_of(answer: Answer) -> Turn:
    """Return the turn of a query through the driver."""
    report = answer.report
    quantity = Quantity.STAGES
    if report.decision in CAPTURES:
        quantity = Quantity.CAPTURE
    elif report.decision is Decision.MAINTAINED:
        quantity = Quantity.MAINTENANCE
    spent = {Quantity.QUERY: answer.seconds * 1000, quantity: before_execution(report)}
    return Turn(answer.rows, spent, f"{report.decision.name} {_why(report)}".strip())


def _why(report: SketchReport) -> str:
    if report.decision is Decision.NOT_USED:
        return report.reason.name
    return "" if report.recapture_reason is None else report.recapture_reason.name


def _round(page: Page, plan: Plan, work: Work, stage: Stage, number: int, *, is_changing: bool) -> float:
    """Return the seconds of one round."""
    begin = plan.clock()
    if is_changing:
        if work.before is not None:
            work.before()
        if work.change is not None:
            changing = plan.clock()
            work.change()
            page.add(EVERYONE, stage, number, {Quantity.UPDATE: (plan.clock() - changing) * 1000})
    for question in range(work.questions):
        take_turn(page, work, stage, number, first=number + question)
    return plan.clock() - begin


def take_turn(page: Page, work: Work, stage: Stage, number: int, first: int) -> None:
    """Ask each system once, number ``first`` (counted round) before the others, and compare their answers."""
    names = list(work.ways)
    start = first % len(names)
    answers: dict[str, Rows] = {}
    for name in names[start:] + names[:start]:
        # The answers of the others, millions of rows at times, are not looked through by the collector in this one's time.
        gc.freeze()
        try:
            turn = work.ways[name]()
        finally:
            gc.unfreeze()
        page.add(name, stage, number, turn.spent)
        if turn.decision and stage is Stage.MEASURED:
            page.decide(name, turn.decision)
        if turn.rows is not None:
            answers[name] = turn.rows
    if work.expected is None:
        # In their own order, so that all are compared with the same system each time.
        page.compare({name: answers[name] for name in names if name in answers}, work.same)
        return
    for name, rows in answers.items():
        page.compare({"what is expected": work.expected[name], name: rows}, work.same)
