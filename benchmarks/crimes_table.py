"""A table with the schema of Chicago's published crime incidents (IMP report 8.2.2), made by SQL.

Beats and types are drawn by Zipf's law: number k of n is drawn in proportion to 1 / k, about. A beat lies in one district and overlaps a
few wards and community areas, mostly the first of them. Rows are clustered by beat.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from benchmarks.harness import Systems

NAME = "crimes"
BEATS, DISTRICTS, WARDS, AREAS, TYPES = 300, 25, 50, 77, 33
FILES = 64


def _zipf(seed: int, count: int) -> str:
    return f"CAST(least(floor(pow({count + 1}, rand({seed}))), {count}) AS INT)"


def rows_sql(first: int, count: int, seed: int, partitions: int) -> str:
    """Return a query for ``count`` incidents from identifier ``first`` on."""
    # Which beats are busy has nothing to do with their numbers.
    drawn = (
        f"SELECT id, pmod({_zipf(seed, BEATS)} * 7919, {BEATS}) AS place, {_zipf(seed + 1, TYPES)} AS kind, "
        f"{_zipf(seed + 2, 4)} - 1 AS part, {_zipf(seed + 3, 60)} AS spot, rand({seed + 4}) AS moment, rand({seed + 5}) AS x, "
        f"rand({seed + 6}) AS y, rand({seed + 7}) AS chance FROM range({first}, {first + count}, 1, {partitions})"
    )
    made = f"SELECT *, timestamp_seconds(978307200 + CAST(moment * 631000000 AS BIGINT)) AS date FROM ({drawn})"
    return (
        "SELECT id, concat('HX', id) AS case_number, date, concat(lpad(CAST(x * 130 AS INT), 3, '0'), 'XX W ', spot, ' ST') AS block, "
        "lpad(CAST(kind * 40 AS STRING), 4, '0') AS iucr, concat('TYPE ', kind) AS primary_type, "
        "concat('DESCRIPTION ', kind, '-', spot % 7) AS description, concat('PLACE ', spot) AS location_description, "
        "chance < 0.25 AS arrest, chance > 0.87 AS domestic, "
        f"CAST((place % {DISTRICTS} + 1) * 100 + place DIV {DISTRICTS} + 1 AS INT) AS beat, "
        f"CAST(place % {DISTRICTS} + 1 AS INT) AS district, CAST((place + part) % {WARDS} + 1 AS INT) AS ward, "
        f"CAST((place * 3 + part DIV 2) % {AREAS} + 1 AS INT) AS community_area, lpad(CAST(kind AS STRING), 2, '0') AS fbi_code, "
        "CAST(1090000 + x * 115000 AS INT) AS x_coordinate, CAST(1813000 + y * 138000 AS INT) AS y_coordinate, year(date) AS year, "
        "date + INTERVAL 7 DAYS AS updated_on, 41.64 + y * 0.38 AS latitude, -87.94 + x * 0.42 AS longitude, "
        f"concat('(', round(41.64 + y * 0.38, 6), ', ', round(-87.94 + x * 0.42, 6), ')') AS location FROM ({made})"
    )


@dataclass(slots=True)
class Crimes:
    """The table and what was inserted into it and deleted."""

    systems: Systems
    rows: int
    next_id: int = 0

    def create(self) -> None:
        """Make the table, with deletion vectors. An older one is replaced."""
        rows = f"SELECT /*+ REPARTITION_BY_RANGE({FILES}, beat) */ * FROM ({rows_sql(0, self.rows, 11, 8)})"
        self._run(f"DROP TABLE IF EXISTS {NAME}")
        properties = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
        self._run(f"CREATE TABLE {NAME} USING DELTA {properties} AS SELECT * FROM ({rows}) SORT BY beat")
        self.next_id = self.rows

    def insert(self, count: int) -> None:
        """Insert new incidents in one commit."""
        self._run(f"INSERT INTO {NAME} {rows_sql(self.next_id, count, self.systems.seed, 1)}")
        self.next_id += count
        self.systems.seed += 20

    def delete(self, count: int) -> None:
        """Delete ``count`` incidents in one commit, a few less where one was deleted before."""
        chosen = random.Random(self.systems.seed).sample(range(self.next_id), count)
        self._run(f"DELETE FROM {NAME} WHERE id IN ({', '.join(map(str, chosen))})")
        self.systems.seed += 20

    def _run(self, text: str) -> None:
        self.systems.incremental.execute(text).close()
