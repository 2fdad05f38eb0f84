"""The life of one process that is killed somewhere in it: captures, changes of every kind, maintenance, saves, a sweep, a drop.

Run as a program it has one process killed at each point; each leaves behind in ``acknowledged`` which changes had returned by then.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from imp_driver.capture import capture
from imp_driver.persist import folders
from imp_driver.values.execution import Execution
from tests.faults.lake import Lake, Process
from tests.forks import run_forked

SUMS = "SELECT g, sum(a) AS f, min(id) AS low, count(*) AS n FROM r GROUP BY g HAVING sum(a) > 58"
COUNTS = "SELECT g, count(*) AS n FROM r GROUP BY g ORDER BY n DESC, g LIMIT 2"
JOIN = "SELECT r.g, sum(r.a) AS f FROM r JOIN s ON r.g = s.g GROUP BY r.g HAVING sum(r.a) > 1180"
QUERIES = (SUMS, COUNTS, JOIN)

CHANGES: tuple[tuple[str, Callable[[Lake], None]], ...] = (
    ("insert", lambda lake: lake.insert("r", [(90_000, 3, 500), (90_001, 11, 1)])),
    ("delete", lambda lake: lake.delete("r", "id = 3005")),
    ("update", lambda lake: lake.update("r", {"a": "a + 100"}, "id = 90001")),
    ("other table", lambda lake: lake.insert("s", [(91_000, 3, 1)])),
)
"""In their order. Each can be recognised in the rows of the tables."""


@dataclass(frozen=True, slots=True)
class Point:
    """The ``number``-th call (1-based) of a function, before it runs or after it has returned."""

    step: str
    module: str
    name: str
    number: int
    is_after: bool

    def __str__(self) -> str:
        return f"{self.step}: {'after' if self.is_after else 'before'} {self.name} {self.number}"


def _both(step: str, module: str, name: str, *numbers: int) -> list[Point]:
    return [Point(step, f"imp_driver.{module}", name, number, is_after) for number in numbers for is_after in (False, True)]


POINTS: tuple[Point, ...] = (
    *_both("capture", "maintain.relations", "capture_into", 1),
    *_both("capture", "maintain.capture", "GroupState.capture", 1, 3),
    *_both("maintain", "maintain.step", "planned", 1),
    *_both("maintain", "maintain.step", "read_rows", 1, 4),
    *_both("maintain", "maintain.step", "apply_rows", 1, 4),
    *_both("maintain", "sketch.cut_groups", "CutGroups.apply", 2),
    *_both("derive", "maintain.sketches", "known_sketches", 2),
    *_both("persist", "state.checkpoint", "Checkpoint._copied", 1, 4),
    *_both("persist", "persist.tables", "encoded_state", 2),
    *_both("persist", "persist.tables", "write_deltalake", 1, 2, 3, 4),
    *_both("persist", "persist.tables", "DeltaRepository._delete_states", 1),
    *_both("persist", "state.checkpoint", "Checkpoint._note_saved", 2),
    *_both("sweep", "persist.tables", "DeltaRepository._sweep", 1),
    *_both("drop", "persist.tables", "DeltaRepository.remove", 1),
    *_both("restore", "state.recovery", "Recovery.prove", 1),
    *_both("restore", "persist.tables", "DeltaRepository.load", 1),
    *_both("write", "", "insert", 1),
    *_both("write", "", "delete", 1),
    *_both("write", "", "update", 1),
)


BUCKET_POINTS: tuple[Point, ...] = (
    *_both("bucket capture", "maintain.buckets", "build", 1),
    *_both("bucket capture", "buckets.state", "BucketedState._take", 1),
    *_both("bucket maintain", "buckets.state", "BucketedState.step", 1, 3),
    *_both("bucket maintain", "buckets.state", "BucketedState._take", 4),
    *_both("bucket derive", "maintain.sketches", "bucketed_sketch", 3),
    *_both("bucket persist", "persist.tables", "write_deltalake", 2, 3, 4),
    *_both("bucket trim", "persist.folders", "trim", 1),
    *_both("bucket restore", "maintain.relations", "attach_buckets", 1),
    *_both("bucket drop", "persist.folders", "remove", 1),
)
"""Points in the same life where no state fits into memory, so that those over whole groups are in buckets."""


def let_nothing_fit() -> None:
    """Let every state need more memory than there is, and former versions of those in buckets go soon."""
    capture.ROW_OVERHEAD = 1 << 30
    folders.TRIM_EVERY = 2


def live(process: Process, acknowledge: Callable[[str], None], reach: Callable[[str, bool], None]) -> None:
    """Live through everything once. ``reach`` is told before and after each change of a table."""
    for query in QUERIES:
        process.ask(query)
    process.sketches.relations.checkpoint.flush()
    for name, change in CHANGES:
        reach(name, False)
        change(process.lake)
        reach(name, True)
        acknowledge(name)
        for query in QUERIES:
            process.ask(query)
        process.sketches.relations.checkpoint.flush()
    process.repository.sweep()
    again = Process(process.lake.folder)
    again.lake.insert("r", [(92_000, 5, 1)])
    acknowledge("last")
    again.ask(SUMS)
    again.path.run(Execution("DROP SKETCH ALL"))
    again.sketches.relations.checkpoint.flush()
    again.close()


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def armed(point: Point) -> Callable[[str, bool], None]:
    """Have the process killed at a point; return what is to be told of changes."""
    if point.module == "imp_driver.":

        def reach(name: str, is_after: bool) -> None:
            if (name, is_after) == (point.name, point.is_after):
                kill()

        return reach
    owner: Any = import_module(point.module)
    *path, name = point.name.split(".")
    for part in path:
        owner = getattr(owner, part)
    inside = owner.__dict__[name]
    function = inside.__func__ if isinstance(inside, classmethod) else inside
    calls = 0

    def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == point.number and not point.is_after:
            kill()
        found = function(*arguments, **named)
        if calls == point.number:
            kill()
        return found

    setattr(owner, name, classmethod(counted) if isinstance(inside, classmethod) else counted)
    return lambda name, is_after: None


def make_tables(folder: Path) -> None:
    """Make the tables that a life begins with."""
    lake = Lake(folder)
    lake.create("r")
    lake.create("s")


def die_at(tables: Path, folder: Path, number: int) -> None:
    """Live in a folder, on a copy of the tables, and be killed at one point."""
    shutil.copytree(tables, folder, dirs_exist_ok=True)

    def acknowledge(name: str) -> None:
        with open(folder / "acknowledged", "a", encoding="utf-8") as file:
            file.write(name + "\n")
            file.flush()
            os.fsync(file.fileno())

    acknowledge("created")
    point = (*POINTS, *BUCKET_POINTS)[number]
    if point in BUCKET_POINTS:
        let_nothing_fit()
    reach = armed(point)
    process = Process(folder)
    live(process, acknowledge, reach)
    process.close()


if __name__ == "__main__":
    tables, *places = map(Path, sys.argv[1:])
    codes = run_forked(partial(die_at, tables, place, number) for number, place in enumerate(places))
    sys.stdout.write(json.dumps(codes))
