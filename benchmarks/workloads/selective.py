"""A sketch-filtered query of 10 aggregates at 1 % of the domain, against plain and against the ideal hand-written predicate."""

from __future__ import annotations

from functools import partial

from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Turn, Work, take_turns, turn_of
from benchmarks.workloads.mixes import query
from imp_driver.cli.synthetic import GROUPS


def run(journal: Journal, plan: Plan, systems: Systems) -> None:
    """Measure the three by turns, on a table that does not change."""
    low = GROUPS // 2
    text = query(systems.table.name, 10, low)
    ideal = text.replace(" GROUP BY", f" WHERE a >= {low - 1} AND a <= {low + 51} GROUP BY")
    systems.drop_sketches()
    ways = {
        "NS": partial(_ask, systems, "NS", text),
        "ideal": partial(_ask, systems, "NS", ideal),
        "IMP": partial(_ask, systems, "IMP", text),
    }
    take_turns(journal.page({"aggregates": 10}), plan, Work(ways))


def _ask(systems: Systems, system: str, text: str) -> Turn:
    return turn_of(systems.ask(system, text))
