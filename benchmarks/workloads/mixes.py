"""End-to-end mixes of updates and queries (IMP report 8.1): xUyQ is x updates, then y queries.

All three systems see the same updates of one table and each query is asked of all three in turn. A repetition is one cycle of updates and
queries, and what a system spends in it is the sum over its queries. The time of the updates is that of all and not counted for any.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from functools import partial

from benchmarks.harness import Answer, Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Work, take_turns, turn_of
from benchmarks.workloads.aggregates import insert
from imp_driver.cli.synthetic import GROUPS, having

MIXES = {"1U1Q": (1, 1), "1U5Q": (1, 5), "5U1Q": (5, 1)}
DELTAS = (1, 20, 200, 2000)
AGGREGATES = (1, 3, 10)


@dataclass(frozen=True, slots=True)
class Setting:
    mix: str
    delta: int
    aggregates: int


@dataclass(slots=True)
class Mix:
    """Draws constants for each query: the same for all systems, which ask in the same order."""

    systems: Systems
    setting: Setting
    asked: Counter[str] = field(default_factory=Counter)
    full: Answer | None = None

    def update(self) -> None:
        """Insert rows, in as many commits as the mix has updates. FM's sketch is stale then; were it kept, it would be maintained."""
        for _ in range(MIXES[self.setting.mix][0]):
            insert(self.systems, self.setting.delta)
        if self.full is not None:
            self.systems.forget(self.full)

    def ask(self, system: str) -> Turn:
        chance = random.Random(f"{self.setting} {self.asked[system]}")
        self.asked[system] += 1
        low = chance.randrange(1, GROUPS - 60)
        answer = self.systems.ask(system, query(self.systems.table.name, self.setting.aggregates, low))
        if system == "FM":
            self.full = answer
        return turn_of(answer)


def run(journal: Journal, plan: Plan, systems: Systems, *, is_quick: bool) -> None:
    """Measure one case per setting, each from a cold start without sketches."""
    settings = [Setting(mix, delta, number) for number in AGGREGATES for delta in DELTAS for mix in MIXES]
    if is_quick:
        settings = [Setting("1U1Q", 20, 1), Setting("1U5Q", 20, 10)]
    for setting in settings:
        systems.drop_sketches()
        mix = Mix(systems, setting)
        ways = {system: partial(mix.ask, system) for system in ("NS", "FM", "IMP")}
        page = journal.page({"mix": setting.mix, "delta": setting.delta, "aggregates": setting.aggregates})
        take_turns(page, plan, Work(ways, mix.update, questions=MIXES[setting.mix][1]))


def query(table: str, aggregates: int, low: int) -> str:
    """Return the HAVING query on 1, 3 or 10 aggregates that some 50 groups from ``low`` on pass."""
    return f"SELECT a, avg(b) AS ab FROM {table} GROUP BY a {having(aggregates, low, low + 50)}"
