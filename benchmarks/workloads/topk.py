"""Top-10 and minima under deletes (IMP report 8.4.3, figures 14 and 15): how often the state must be captured again, and its size.

The report's table: 50,000 rows, 20 of them deleted by each change. The driver keeps all groups for a top-k and up to 16 values of each
group for a minimum, so only minima of groups with many rows can run dry: they are asked of 5,000 groups and of 100.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.grouped_tables import GroupedTable
from benchmarks.harness import Systems, before_execution, checked
from benchmarks.protocol import CAPTURES
from benchmarks.upkeep import drop, rounded, state_bytes
from imp_driver.reasons import Decision

ROWS = 50_000
PER_CHANGE = 20
FILES = 16
PATTERNS = {"smallest": "S", "random": "R", "2 random, 1 smallest": "RRS", "4 random, 1 smallest": "RRRRS"}
"""Which deletes follow each other."""
CHECK_EVERY = 10


@dataclass(slots=True)
class Deletes:
    """Deletes rows of one table; ``next_group`` is the smallest group that is left when whole groups go."""

    systems: Systems
    table: GroupedTable
    next_group: int = 1
    randoms: int = 0

    def random(self) -> None:
        """Delete about PER_CHANGE rows, others each time."""
        every = self.table.rows // PER_CHANGE
        self.table.delete(self.systems, f"id % {every} = {self.randoms * 7919 % every}")
        self.randoms += 1

    def smallest_groups(self) -> None:
        """Delete the two smallest groups."""
        self.next_group += 2
        self.table.delete(self.systems, f"a < {self.next_group}")

    def smallest_values(self) -> None:
        """Delete the two smallest values of each of some groups, others each time, but the same again after a while."""
        reached = max(40, self.table.groups // 10)
        chosen = [(self.next_group + place) % reached + 1 for place in range(PER_CHANGE // 2)]
        self.next_group += PER_CHANGE // 2
        ranked = f"SELECT id, row_number() OVER (PARTITION BY a ORDER BY b, id) AS place FROM {self.table.name}"
        rows = self.systems.ask("NS", f"SELECT id FROM ({ranked} WHERE a IN ({', '.join(map(str, chosen))})) WHERE place <= 2").rows
        if rows:
            self.table.delete(self.systems, f"id IN ({', '.join(str(row[0]) for row in rows)})")


def run(systems: Systems, changes: int) -> list[dict[str, Any]]:
    """Return one record per query and pattern of deletes, over ``changes`` deletes each."""
    records = []
    for name, groups, query in (
        ("top-10", 5_000, "SELECT a, avg(b) AS ab FROM {} GROUP BY a ORDER BY a LIMIT 10"),
        ("min, 5000 groups", 5_000, "SELECT a, min(b) AS mb FROM {} GROUP BY a HAVING min(b) < 100"),
        ("min and max, 100 groups", 100, "SELECT a, min(b) AS mb FROM {} GROUP BY a HAVING min(b) < 15 AND max(b) > 0"),
    ):
        for pattern in PATTERNS:
            table = GroupedTable("ttopk", ROWS, groups, FILES)
            table.create(systems)
            records.append({"query": name, "deletes": pattern} | _measure(systems, table, query.format(table.name), pattern, changes))
            print(records[-1], flush=True)
            drop(systems, table.name)
    return records


def _measure(systems: Systems, table: GroupedTable, text: str, pattern: str, changes: int) -> dict[str, Any]:
    deletes = Deletes(systems, table)
    smallest: Callable[[], None] = deletes.smallest_groups if "LIMIT" in text else deletes.smallest_values
    first = systems.ask("IMP", text)
    before = state_bytes(systems, first.report)
    spent: list[float] = []
    captured: list[float] = []
    counted = Counter[str]()
    for place in range(changes):
        deletes.random() if PATTERNS[pattern][place % len(PATTERNS[pattern])] == "R" else smallest()
        answer = systems.ask("IMP", text)
        counted[(answer.report.recapture_reason or answer.report.decision).name] += 1
        if answer.report.decision in (Decision.MAINTAINED, *CAPTURES):
            (spent if answer.report.decision is Decision.MAINTAINED else captured).append(before_execution(answer.report))
        if place % CHECK_EVERY == 0 or place == changes - 1:
            checked([systems.ask("NS", text), answer])
    return {
        "changes": changes,
        "recaptures": len(captured),
        "decisions": ", ".join(f"{number} {name}" for name, number in counted.items()),
        "maintain ms": rounded(statistics.median(spent) if spent else None),
        "recapture ms": rounded(statistics.median(captured) if captured else None),
        "state bytes before": before,
        "after": state_bytes(systems, answer.report),
    }
