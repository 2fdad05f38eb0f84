"""End-to-end mixes of updates and queries (IMP report 8.1): xUyQ is x updates, then y queries.

All three systems see the same updates of one table, each query is asked of all three in turn, and the answers are compared. The time of
the updates themselves is the same for all and not counted.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from benchmarks.harness import Answer, Systems, checked
from imp_driver.cli.synthetic import GROUPS, having, insert_rows

MIXES = {"1U1Q": (1, 1), "1U5Q": (1, 5), "5U1Q": (5, 1)}
ROUNDS = {"1U1Q": 3, "1U5Q": 1, "5U1Q": 2}
"""Repetitions of each mix in one round, so that each asks some queries and none too many."""
DELTAS = (1, 20, 200, 2000)
AGGREGATES = (1, 3, 10)


@dataclass(frozen=True, slots=True)
class Setting:
    mix: str
    delta: int
    aggregates: int


def run(systems: Systems, rounds: int, quick: bool) -> list[dict[str, Any]]:
    """Return one record per setting with the seconds of each system over all its queries."""
    chance = random.Random(systems.seed)
    settings = [Setting(mix, delta, number) for number in AGGREGATES for delta in DELTAS for mix in MIXES]
    if quick:
        settings = [Setting("1U1Q", 20, 1), Setting("1U5Q", 20, 10)]
    records = []
    for number in dict.fromkeys(setting.aggregates for setting in settings):
        captured = _capture(systems, number)
        for setting in settings:
            if setting.aggregates == number:
                records.append(_run_setting(systems, setting, rounds, chance, captured))
                print(records[-1], flush=True)
    return records


def query(table: str, aggregates: int, low: int) -> str:
    return f"SELECT a, avg(b) AS ab FROM {table} GROUP BY a {having(aggregates, low, low + 50)}"


def _capture(systems: Systems, aggregates: int) -> Answer:
    """Let IMP capture outside the mixes; its cost is reported by the maintenance workload. Return FM's answer, to be forgotten first."""
    answers = [systems.ask(system, query(systems.table.name, aggregates, 100)) for system in ("NS", "IMP", "FM")]
    checked(answers)
    return answers[-1]


def _run_setting(systems: Systems, setting: Setting, rounds: int, chance: random.Random, captured: Answer) -> dict[str, Any]:
    updates, queries = MIXES[setting.mix]
    seconds = {"NS": 0.0, "FM": 0.0, "IMP": 0.0}
    for _ in range(rounds * ROUNDS[setting.mix]):
        for _ in range(updates):
            insert_rows(systems.incremental, systems.table.name, systems.next_id, setting.delta, systems.seed)
            systems.next_id += setting.delta
            systems.seed += 20
        # FM's sketch is stale now; without this the driver would maintain it.
        systems.forget(captured)
        for _ in range(queries):
            text = query(systems.table.name, setting.aggregates, chance.randrange(1, GROUPS - 60))
            # Whoever asks first after an update also pays for Delta's new snapshot, so the order is drawn.
            order = chance.sample(["NS", "FM", "IMP"], 3)
            answers = {system: systems.ask(system, text) for system in order}
            checked(list(answers.values()))
            captured = answers["FM"]
            for system, answer in answers.items():
                seconds[system] += answer.seconds
    ratio = {"NS/IMP": round(seconds["NS"] / seconds["IMP"], 2)}
    return (
        {"mix": setting.mix, "delta": setting.delta, "aggregates": setting.aggregates}
        | {name: round(value, 3) for name, value in seconds.items()}
        | ratio
    )
