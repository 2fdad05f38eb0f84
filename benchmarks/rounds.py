"""Rounds of many questions: the tables change once for all of them, and each system is asked all of them with constants drawn anew.

Otherwise as the protocol has it: a cold start, warm-up and repetitions; in each question the systems take turns and are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.journal import Page
from benchmarks.protocol import Plan, Work, take_turn
from benchmarks.records import Quantity, Stage
from benchmarks.report import line


@dataclass(frozen=True, slots=True)
class Question:
    """``draw`` is called once a round, before the systems are asked."""

    page: Page
    work: Work
    draw: Callable[[], object]


@dataclass(frozen=True, slots=True)
class Refresh:
    """A change of the tables, timed on ``page``; it is given the number of the round, counted from the first one with changes."""

    name: str
    make: Callable[[int], object]


def take_rounds(page: Page, plan: Plan, questions: Sequence[Question], before: Refresh, after: Refresh) -> None:
    """Measure all questions; ``before`` and ``after`` are made around them in every round but the cold start."""
    for turn, (stage, number) in enumerate(_stages(plan)):
        if turn:
            _make(page, plan, before, stage, number, turn - 1)
        for place, each in enumerate(questions):
            each.draw()
            take_turn(each.page, each.work, stage, number, first=turn + place)
        if turn:
            _make(page, plan, after, stage, number, turn - 1)
        print(f"{stage} {number + 1}", flush=True)
    for each in questions:
        print(line(each.page.case), flush=True)


def rounds(plan: Plan) -> int:
    """Return how many rounds with changes there are."""
    return sum(1 for _ in _stages(plan)) - 1


def _stages(plan: Plan) -> Iterator[tuple[Stage, int]]:
    yield Stage.COLD_START, 0
    yield from ((Stage.WARM_UP, number) for number in range(plan.warm_up))
    yield from ((Stage.MEASURED, number) for number in range(plan.repetitions))


def _make(page: Page, plan: Plan, refresh: Refresh, stage: Stage, number: int, turn: int) -> None:
    begin = plan.clock()
    refresh.make(turn)
    page.add(refresh.name, stage, number, {Quantity.UPDATE: (plan.clock() - begin) * 1000})
