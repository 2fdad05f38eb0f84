"""A materialized view, refreshed while its table is written: each version of it has the rows of the query at the versions that it names.

15 seconds, ten minutes in a wide run; IMP_REFRESH_SECONDS says how many else.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import imp_driver
from tests.seeds import WIDE

SECONDS = float(os.environ.get("IMP_REFRESH_SECONDS", "600" if WIDE else "15"))
QUERY = "SELECT g, sum(x) AS s, count(*) AS c FROM refreshed_source{at} GROUP BY g"
VIEW = "refreshed_view"
FEWEST = 3
"""Refreshes that write something, however slow the machine is."""


class Load:
    """A writer and one who refreshes, until the end or the first problem."""

    def __init__(self, warehouse: Path) -> None:
        self.warehouse = warehouse
        self.end = time.monotonic() + SECONDS
        self.problems: list[BaseException] = []
        self.refreshed = 0

    @property
    def is_over(self) -> bool:
        """On a machine that is busy otherwise it goes on until enough was written."""
        return time.monotonic() > self.end and self.refreshed >= FEWEST

    def run(self, step: Callable[[imp_driver.Cursor], None]) -> None:
        try:
            with imp_driver.connect(warehouse=str(self.warehouse)) as connection:
                while not self.is_over and not self.problems:
                    step(connection.cursor())
        except BaseException as error:
            self.problems.append(error)

    def refresh(self, cursor: imp_driver.Cursor) -> None:
        cursor.execute(f"REFRESH MATERIALIZED VIEW {VIEW}")
        self.refreshed += cursor.rowcount > 0


def writer() -> Callable[[imp_driver.Cursor], None]:
    chance = random.Random(7)

    def write(cursor: imp_driver.Cursor) -> None:
        changes = (
            f"INSERT INTO refreshed_source VALUES ({chance.randrange(9)}, {chance.randrange(50)}), (NULL, 1)",
            f"DELETE FROM refreshed_source WHERE g = {chance.randrange(9)} AND x < {chance.randrange(9)}",
            f"UPDATE refreshed_source SET x = x + 1 WHERE g = {chance.randrange(9)}",
        )
        cursor.execute(chance.choice(changes))

    return write


def check(plain: imp_driver.Cursor, seen: set[int]) -> None:
    """Compare each version that was not seen yet with the query at the version of its source."""
    for row in plain.execute(f"DESCRIBE HISTORY {VIEW}").fetchall():
        if row[0] not in seen:
            (source,) = json.loads(row[13])["imp.view"].values()
            found, expected = (
                sorted(map(repr, plain.execute(text).fetchall()))
                for text in (f"SELECT g, s, c FROM {VIEW} VERSION AS OF {row[0]}", QUERY.format(at=f" VERSION AS OF {source}"))
            )
            assert found == expected, row
            seen.add(row[0])


def test_every_version_is_one_moment(tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse"
    with imp_driver.connect(warehouse=str(warehouse)) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE refreshed_source (g INT, x INT) USING DELTA")
        cursor.execute("INSERT INTO refreshed_source SELECT id % 9, id % 50 FROM range(2000)")
        cursor.execute(f"CREATE MATERIALIZED VIEW {VIEW} POLICY INCREMENTAL AS {QUERY.format(at='')}")
    with closing(imp_driver.connect(warehouse=str(warehouse), sketch="off")) as engine:
        _check_versions(warehouse, engine)


def _check_versions(warehouse: Path, engine: imp_driver.Connection) -> None:
    load, seen, plain = Load(warehouse), set[int](), engine.cursor()
    threads = [threading.Thread(target=load.run, args=(step,)) for step in (writer(), load.refresh)]
    for thread in threads:
        thread.start()
    while not load.is_over and not load.problems:
        check(plain, seen)
    for thread in threads:
        thread.join()
    assert load.problems == []
    check(plain, seen)
    assert len(seen) > FEWEST
    assert load.refreshed >= len(seen) - 1
    with imp_driver.connect(warehouse=str(warehouse)) as connection:
        connection.execute(f"REFRESH MATERIALIZED VIEW {VIEW}").close()
    last: list[Any] = [sorted(map(repr, plain.execute(text).fetchall())) for text in (f"SELECT g, s, c FROM {VIEW}", QUERY.format(at=""))]
    assert last[0] == last[1]
    print(f"{SECONDS:.0f} s: {load.refreshed} refreshes that wrote, {len(seen)} versions")
