"""A benchmark's queries under refresh, with constants drawn anew in each round: who serves them, how soon, and with how large a state.

The tables change twice in each round but the first, before and after all queries. Every answer is compared with plain Spark's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

import imp_driver
from benchmarks.answering import ANSWERS, PLAIN, RECOMPUTED, Connections, answered, is_answered, state_bytes, why_not
from benchmarks.comparing import up_to_ties
from benchmarks.harness import ask
from benchmarks.journal import Journal, Page
from benchmarks.protocol import Plan, Turn, Way, Work
from benchmarks.recomputing import Recomputing
from benchmarks.rounds import Question, Refresh, rounds, take_rounds
from benchmarks.templates import Template
from imp_driver.values.report import SketchReport


@dataclass(slots=True)
class Instances:
    """The instances of one template: the same for all systems, another one each round."""

    template: Template
    chance: Random
    scale: float
    text: str = ""
    reasons: dict[str, None] = field(default_factory=dict)
    last: SketchReport | None = None

    def draw(self) -> None:
        self.text = self.template.instance(self.chance, self.scale)

    def plain(self, connection: imp_driver.Connection) -> Turn:
        return replace(answered(ask(connection, self.text)), decision="")

    def answer(self, connection: imp_driver.Connection) -> Turn:
        found = ask(connection, self.text)
        if is_answered(found.report):
            self.last = found.report
        else:
            self.reasons[why_not(found.report)] = None
        return answered(found)

    def recomputed(self, engine: Recomputing) -> Turn:
        return engine.ask(self.text)


@dataclass(frozen=True, slots=True)
class Subject:
    """What is measured.

    Attributes:
        inserted, deleted: statements of the two changes of a round, by its number.
        engine: is changed along and asked too; None where there is none.
    """

    templates: Sequence[Template]
    scale: float
    connections: Connections
    inserted: Callable[[int], Sequence[str]]
    deleted: Callable[[int], Sequence[str]]
    engine: Recomputing | None


def changing_rounds(plan: Plan) -> int:
    """Return how many rounds with changes a run under this plan has."""
    return rounds(_without_limit(plan))


def measure(journal: Journal, plan: Plan, subject: Subject) -> None:
    """Measure one case per query and one for the changes."""
    page = journal.page({"query": "refresh"})
    subject.connections.forget()
    pairs = [_question(journal, subject, template) for template in subject.templates]
    before, after = (
        Refresh(name, partial(_change, subject, statements))
        for name, statements in (("inserts", subject.inserted), ("deletes", subject.deleted))
    )
    try:
        take_rounds(page, _without_limit(plan), [question for question, _ in pairs], before, after)
    finally:
        for question, instances in pairs:
            _note(question.page, subject, instances)
        page.facts["bytes of all states"] = state_bytes(subject.connections.answers)


def _without_limit(plan: Plan) -> Plan:
    # A round of all queries takes a minute by itself; constants differ each time, so there is nothing to settle.
    return replace(plan, settling=0, limit=math.inf)


def _question(journal: Journal, subject: Subject, template: Template) -> tuple[Question, Instances]:
    instances = Instances(template, Random(template.name), subject.scale)
    connections = subject.connections
    ways: dict[str, Way] = {
        PLAIN: partial(instances.plain, connections.plain),
        ANSWERS: partial(instances.answer, connections.answers),
    }
    if subject.engine is not None:
        ways[RECOMPUTED] = partial(instances.recomputed, subject.engine)
    work = Work(ways, same=up_to_ties(template.order, template.limit))
    return Question(journal.page({"query": template.name}), work, instances.draw), instances


def _change(subject: Subject, statements: Callable[[int], Sequence[str]], number: int) -> None:
    for text in statements(number):
        subject.connections.plain.execute(text).close()
        if subject.engine is not None:
            subject.engine.change(text)


def _note(page: Page, subject: Subject, instances: Instances) -> None:
    page.facts["state bytes"] = 0 if instances.last is None else state_bytes(subject.connections.answers, instances.last)
    if instances.reasons:
        page.facts["not from a state"] = "; ".join(instances.reasons)
