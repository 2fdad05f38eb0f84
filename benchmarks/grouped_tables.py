"""The papers' synthetic table with any number of groups (IMP report, section 8 and Appendix A.1.2)."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.harness import Systems
from imp_driver.cli.synthetic import FILES, row_expressions


@dataclass(frozen=True, slots=True)
class GroupedTable:
    """``rows`` rows in ``groups`` groups drawn uniformly, in ``files`` files clustered by the group. Columns as in SyntheticTable."""

    name: str
    rows: int
    groups: int
    files: int = FILES
    seed: int = 1

    def create(self, systems: Systems) -> None:
        """Make the table with deletion vectors, so that deletes of few rows rewrite no files. An older one of this name is replaced."""
        source = f"(SELECT id, {self._group(self.seed)} AS a FROM range(0, {self.rows}, 1, 8))"
        rows = f"(SELECT {row_expressions('id', 'a', self.seed + 1)} FROM {source})"
        clustered = f"SELECT * FROM (SELECT /*+ REPARTITION_BY_RANGE({self.files}, a) */ * FROM {rows}) SORT BY a"
        properties = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
        systems.incremental.execute(f"DROP TABLE IF EXISTS {self.name}").close()
        systems.incremental.execute(f"CREATE TABLE {self.name} USING DELTA {properties} AS {clustered}").close()

    def insert(self, systems: Systems, count: int) -> None:
        """Insert rows with groups drawn uniformly, in one commit."""
        first, seed = systems.next_id, systems.seed
        source = f"(SELECT id, {self._group(seed)} AS a FROM range({first}, {first + count}, 1, 1))"
        systems.incremental.execute(f"INSERT INTO {self.name} SELECT {row_expressions('id', 'a', seed + 1)} FROM {source}").close()
        systems.next_id += count
        systems.seed += 20

    def delete(self, systems: Systems, condition: str) -> int:
        """Delete rows in one commit; return how many."""
        with systems.incremental.execute(f"DELETE FROM {self.name} WHERE {condition}") as cursor:
            return cursor.rowcount

    def _group(self, seed: int) -> str:
        return f"CAST(floor(rand({seed}) * {self.groups}) + 1 AS INT)"
