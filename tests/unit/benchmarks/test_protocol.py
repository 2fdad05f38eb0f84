"""The protocol: who is asked when, what is compared, and what becomes of it."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from benchmarks.harness import Rows
from benchmarks.journal import EVERYONE, Page
from benchmarks.protocol import Plan, Turn, Work, take_turns
from benchmarks.records import Quantity, Stage


@dataclass(slots=True)
class Stand:
    """A table with one number, the systems that tell it, and a clock that goes on by ``pace`` seconds for each question."""

    pace: float = 1.0
    time: float = 0.0
    number: int = 0
    events: list[str] = field(default_factory=list)
    wrong_from: int | None = None

    def way(self, system: str) -> Callable[[], Turn]:
        def ask() -> Turn:
            self.events.append(system)
            self.time += self.pace
            is_wrong = system == "IMP" and self.wrong_from is not None and self.number >= self.wrong_from
            rows: Rows = [(self.number - is_wrong,)]
            return Turn(rows, {Quantity.QUERY: 10.0 * (self.number + 1)}, "MAINTAINED" if system == "IMP" else "")

        return ask

    def change(self) -> None:
        self.events.append("change")
        self.time += 0.5
        self.number += 1

    def measure(self, plan: Plan, questions: int = 1) -> Page:
        page = Page({"case": "of a test"}, plan.repetitions)
        take_turns(page, plan, Work({system: self.way(system) for system in ("NS", "IMP")}, self.change, questions=questions))
        return page

    def plan(self, repetitions: int) -> Plan:
        return Plan(repetitions, settling=1, warm_up=1, clock=lambda: self.time)


def test_systems_take_turns_after_one_change_for_all() -> None:
    stand = Stand()
    stand.measure(stand.plan(3))
    # Cold start, warm-up without and with the change, then repetitions, in which another one is first each time.
    rounds = " ".join(stand.events).replace(" change", "\nchange").splitlines()
    assert rounds == ["NS IMP NS IMP", "change IMP NS", "change NS IMP", "change IMP NS", "change NS IMP"]


def test_what_others_have_left_is_out_of_sight_of_the_collector_in_a_turn() -> None:
    stand, frozen = Stand(), list[int]()

    def ask() -> Turn:
        frozen.append(gc.get_freeze_count())
        return stand.way("IMP")()

    take_turns(Page({"case": "of a test"}, 1), stand.plan(1), Work({"NS": stand.way("NS"), "IMP": ask}, stand.change))
    assert len(frozen) == 4
    assert min(frozen) > 0 == gc.get_freeze_count()


def test_every_round_is_timed_by_its_stage() -> None:
    stand = Stand()
    case = stand.measure(stand.plan(3)).case
    assert case.values("IMP", Quantity.QUERY, Stage.COLD_START) == (10.0,)
    assert case.values("IMP", Quantity.QUERY, Stage.WARM_UP) == (10.0, 20.0)
    assert case.values("IMP", Quantity.QUERY) == (30.0, 40.0, 50.0)
    assert case.values(EVERYONE, Quantity.UPDATE) == (500.0, 500.0, 500.0)
    assert case.facts == {"decisions of IMP": "3 MAINTAINED"}


def test_several_questions_of_a_repetition_are_summed() -> None:
    stand = Stand()
    page = stand.measure(stand.plan(2), questions=5)
    assert page.case.values("NS", Quantity.QUERY) == (150.0, 200.0)
    assert stand.events.count("change") == 3
    assert page.compared == 5 * 5


def test_answers_are_compared_in_every_round_and_a_difference_is_kept() -> None:
    stand = Stand(wrong_from=3)
    page = stand.measure(stand.plan(4))
    assert page.compared == 7
    assert len(page.differences) == 3
    assert page.case.differences[0] == "IMP against NS: 1 rows against 1; first of its own [(2,)], first of the other's [(3,)]"


def test_answers_that_are_meant_to_differ_are_compared_with_what_is_expected() -> None:
    ways = {"no filter": lambda: Turn([(3,)], {}), "filter": lambda: Turn([(2,)], {})}
    page = Page({}, 1)
    take_turns(page, Plan(1), Work(ways, expected={"no filter": [(3,)], "filter": [(1,)]}))
    # A cold start, two rounds of settling and one repetition; the filter is wrong in each.
    assert (page.compared, len(page.differences)) == (8, 4)


@pytest.mark.parametrize(("pace", "repetitions", "reason"), [(29.0, 10, ""), (31.0, 3, "3 repetitions instead of 10: one round took 62 s")])
def test_rounds_of_over_a_minute_are_repeated_less_and_the_record_says_so(pace: float, repetitions: int, reason: str) -> None:
    stand = Stand(pace)
    case = stand.measure(stand.plan(10)).case
    assert len(case.values("NS", Quantity.QUERY)) == repetitions
    assert (case.asked, case.shortened) == (10, reason)


def test_a_repetition_without_a_measurement_keeps_its_place() -> None:
    page = Page({}, 3)
    for number, spent in enumerate(({Quantity.CAPTURE: 5.0}, {}, {Quantity.MAINTENANCE: 1.0})):
        page.add("IMP", Stage.MEASURED, number, spent)
    assert page.case.values("IMP", Quantity.CAPTURE) == (5.0, None, None)
    assert page.case.values("IMP", Quantity.MAINTENANCE) == (None, None, 1.0)


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="is no measurement"):
        Page({}, 1).add("IMP", Stage.MEASURED, 0, {Quantity.RATE: float("inf")})
