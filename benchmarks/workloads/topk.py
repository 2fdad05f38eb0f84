"""Top-10 and minima under deletes (IMP report 8.4.3, figures 14 and 15): how often the state must be captured again, and its size.

The report's table: 50,000 rows, 20 of them deleted by each change. The driver keeps all groups for a top-k and up to 16 values of each
group for a minimum, so only minima of groups with many rows can run dry: they are asked of 5,000 groups and of 100. Why a state was
captured again is among the decisions. ``--repetitions`` makes the deletes more.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.grouped_tables import GroupedTable
from benchmarks.harness import Systems
from benchmarks.journal import Journal
from benchmarks.protocol import Plan, Way, Work, take_turns
from benchmarks.upkeep import Asked, Weighed, drop

ROWS = 50_000
PER_CHANGE = 20
FILES = 16
PATTERNS = {"smallest": "S", "random": "R", "2 random, 1 smallest": "RRS", "4 random, 1 smallest": "RRRRS"}
"""Which deletes follow each other."""
QUERIES = {
    "top-10": (5_000, "SELECT a, avg(b) AS ab FROM {} GROUP BY a ORDER BY a LIMIT 10"),
    "min, 5000 groups": (5_000, "SELECT a, min(b) AS mb FROM {} GROUP BY a HAVING min(b) < 100"),
    "min and max, 100 groups": (100, "SELECT a, min(b) AS mb FROM {} GROUP BY a HAVING min(b) < 15 AND max(b) > 0"),
}
"""Groups of the table and text."""


@dataclass(slots=True)
class Deletes:
    """Deletes rows of one table in a pattern: ``choose`` finds those that are next, ``delete`` deletes them.

    Attributes:
        takes_groups: whether the smallest are whole groups, as a top-k needs them, or values of a group.
        made: how often was chosen, and ``randoms`` how often at random.
        next_group: the smallest group that is left when whole groups go, else the first one whose values go.
        condition: of the rows to delete; none before the first choice.
    """

    systems: Systems
    table: GroupedTable
    pattern: str
    takes_groups: bool
    made: int = 0
    randoms: int = 0
    next_group: int = 1
    condition: str = "false"

    def choose(self) -> None:
        is_random = self.pattern[self.made % len(self.pattern)] == "R"
        self.made += 1
        smallest = self._smallest_groups if self.takes_groups else self._smallest_values
        self.condition = self._random() if is_random else smallest()

    def delete(self) -> None:
        self.table.delete(self.systems, self.condition)

    def _random(self) -> str:
        """Take about PER_CHANGE rows, others each time."""
        every = self.table.rows // PER_CHANGE
        self.randoms += 1
        return f"id % {every} = {(self.randoms - 1) * 7919 % every}"

    def _smallest_groups(self) -> str:
        """Take the two smallest groups."""
        self.next_group += 2
        return f"a < {self.next_group}"

    def _smallest_values(self) -> str:
        """Take the two smallest values of each of some groups, others each time, but the same again after a while."""
        reached = max(40, self.table.groups // 10)
        chosen = [(self.next_group + place) % reached + 1 for place in range(PER_CHANGE // 2)]
        self.next_group += PER_CHANGE // 2
        ranked = f"SELECT id, row_number() OVER (PARTITION BY a ORDER BY b, id) AS place FROM {self.table.name}"
        rows = self.systems.ask("NS", f"SELECT id FROM ({ranked} WHERE a IN ({', '.join(map(str, chosen))})) WHERE place <= 2").rows
        return f"id IN ({', '.join(str(row[0]) for row in rows)})" if rows else "false"


def run(journal: Journal, plan: Plan, systems: Systems) -> None:
    """Measure one case per query and pattern of deletes, each from a cold start without sketches."""
    for name, (groups, query) in QUERIES.items():
        for deletes, pattern in PATTERNS.items():
            table = GroupedTable("ttopk", ROWS, groups, FILES)
            table.create(systems)
            systems.drop_sketches()
            text = query.format(table.name)
            asked = {system: Asked(systems, system, text) for system in ("NS", "FM", "IMP")}
            ways: dict[str, Way] = {**asked, "IMP": Weighed(asked["IMP"])}
            changes = Deletes(systems, table, pattern, takes_groups="LIMIT" in query)
            take_turns(journal.page({"query": name, "deletes": deletes}), plan, Work(ways, changes.delete, changes.choose))
            drop(systems, table.name)
