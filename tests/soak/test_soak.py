"""Eight threads of mixed reads and writes on one warehouse, every answer compared with the plain one; nothing is lost and nothing leaks.

30 seconds, 60 in a wide run; IMP_SOAK_SECONDS says how many else.
"""

from __future__ import annotations

import gc
import itertools
import os
import random
import threading
import time
from collections import Counter
from pathlib import Path

from py4j.finalizer import ThreadSafeFinalizer

import imp_driver
from imp_driver.reasons import Decision
from tests.seeds import WIDE

SECONDS = float(os.environ.get("IMP_SOAK_SECONDS", "60" if WIDE else "30"))
THREADS = 8
WRITERS = 2
GROUPS = 40
QUERIES = (
    "SELECT g, sum(v) AS total FROM soak_a GROUP BY g HAVING sum(v) > ? ORDER BY g",
    "SELECT g, count(*) AS n, max(v) AS top FROM soak_a GROUP BY g HAVING count(*) > ? ORDER BY g",
    "SELECT a.g, sum(b.w) AS total FROM soak_a a JOIN soak_b b ON a.g = b.g GROUP BY a.g HAVING sum(b.w) > ? ORDER BY a.g",
)
CONSTANTS = ((30_000, 60_000), (20, 22), (10_000, 20_000))


class Load:
    """What all threads share: when to end, identifiers, what was committed, what went wrong."""

    def __init__(self, warehouse: Path) -> None:
        self.warehouse = warehouse
        self.end = time.monotonic() + SECONDS
        self.identifiers = itertools.count(1_000_000)
        self.inserted: set[int] = set()
        self.deleted: set[int] = set()
        self.decisions: Counter[Decision] = Counter()
        self.problems: list[BaseException] = []
        self.lock = threading.Lock()

    def run(self, number: int) -> None:
        chance = random.Random(number)
        try:
            while time.monotonic() < self.end and not self.problems:
                # A pool opens and closes connections now and then.
                with imp_driver.connect(warehouse=str(self.warehouse), sketch="shadow") as connection:
                    for _ in range(10):
                        if time.monotonic() >= self.end:
                            break
                        with connection.cursor() as cursor:
                            (self._write if number < WRITERS else self._read)(cursor, chance)
        except BaseException as error:
            self.problems.append(error)

    def _read(self, cursor: imp_driver.Cursor, chance: random.Random) -> None:
        place = chance.randrange(len(QUERIES))
        cursor.execute(QUERIES[place], (chance.choice(CONSTANTS[place]),))
        cursor.fetchall()
        assert cursor.sketch_report is not None
        with self.lock:
            self.decisions[cursor.sketch_report.decision] += 1

    def _write(self, cursor: imp_driver.Cursor, chance: random.Random) -> None:
        identifier, group = next(self.identifiers), chance.randrange(GROUPS)
        cursor.execute("INSERT INTO soak_a VALUES (?, ?, ?)", (identifier, group, chance.randrange(100)))
        with self.lock:
            self.inserted.add(identifier)
        old = chance.choice(sorted(self.inserted - self.deleted)) if chance.random() < 0.3 else None
        if old is not None:
            try:
                cursor.execute("DELETE FROM soak_a WHERE id = ?", (old,))
            except imp_driver.Error as error:
                # Another writer was first; Delta says so and nothing is deleted.
                if "CONCURRENT" not in str(error):
                    raise
            else:
                with self.lock:
                    self.deleted.add(old)
        time.sleep(0.3)


def _resources() -> dict[str, int]:
    gc.collect()
    with open("/proc/self/status", encoding="ascii") as file:
        memory = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    return {
        "threads": threading.active_count(),
        "files": len(os.listdir("/proc/self/fd")),
        "JVM objects": len(ThreadSafeFinalizer.finalizers),
        "memory MB": memory >> 10,
    }


def test_eight_threads(tmp_path: Path) -> None:
    with imp_driver.connect(warehouse=str(tmp_path), sketch="off") as connection:
        cursor = connection.cursor()
        rows = f"SELECT /*+ REPARTITION_BY_RANGE(10, g) */ id, CAST(id % {GROUPS} AS INT) AS g, id AS v FROM range(2000)"
        cursor.execute(f"CREATE TABLE soak_a USING DELTA AS {rows}")
        cursor.execute(f"CREATE TABLE soak_b USING DELTA AS SELECT CAST(id % {GROUPS} AS INT) AS g, id AS w FROM range(200)")
        warm = Load(tmp_path)
        warm.end = time.monotonic() + SECONDS / 4
        _all_threads(warm)
        before = _resources()
        load = Load(tmp_path)
        load.identifiers = itertools.count(2_000_000)
        _all_threads(load)
        after = _resources()
        there = {row[0] for row in cursor.execute("SELECT id FROM soak_a WHERE id >= 2000000").fetchall()}
    print(f"\n{SECONDS:.0f} s: {dict(load.decisions)}, {len(load.inserted)} inserted, {len(load.deleted)} deleted; {before} -> {after}")
    assert there == load.inserted - load.deleted
    assert {Decision.FRESH, Decision.MAINTAINED} <= set(load.decisions)
    assert after["threads"] <= before["threads"]
    assert after["files"] <= before["files"] + 8
    assert after["JVM objects"] <= before["JVM objects"] + 50
    assert after["memory MB"] <= before["memory MB"] * 1.25 + 64


def _all_threads(load: Load) -> None:
    threads = [threading.Thread(target=load.run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS + 120)
    assert load.problems == []
    assert not any(thread.is_alive() for thread in threads)
