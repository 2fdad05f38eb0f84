"""Lives of processes whose store is on a disk that becomes full and has room again; what happened goes to files as JSON.

Run as a program that forks, since a limit of the system is one of a whole process. ``limit``: files must not become longer than so many
bytes, and delta-rs fails to write as on a full disk. ``disk``: a small file system in memory, mounted where the store is, has so many left.
"""

from __future__ import annotations

import io
import json
import logging
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

from tests.faults.lake import Lake, Process
from tests.faults.scenario import QUERIES
from tests.forks import run_forked

SIZE = 1 << 20
"""Bytes of the file system in memory."""
Full = Callable[[], AbstractContextManager[None]]


@contextmanager
def limited(left: int) -> Iterator[None]:
    """Let no file of this process become longer than so many bytes; Python ignores the signal, so that the write itself fails."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (left, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


def mount(store: Path) -> None:
    """Mount a small file system; the caller has a name space of mounts of its own. Raises CalledProcessError where it must not."""
    store.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(store)], check=True)


@contextmanager
def filled(store: Path, left: int) -> Iterator[None]:
    """Fill the file system of the store but for so many bytes."""
    ballast = store / "ballast"
    found = os.statvfs(store)
    with ballast.open("wb") as file:
        file.write(b"\0" * max(0, found.f_bavail * found.f_frsize - left))
    try:
        yield
    finally:
        ballast.unlink()


def _asked(process: Process) -> list[str]:
    return [process.ask(query).decision.name for query in QUERIES]


def live(folder: Path, full: Full, is_new: bool) -> dict[str, object]:
    """Ask and save before, while and after the disk is full. ``is_new``: nothing was saved before. Every answer is compared."""
    lake = Lake(folder)
    told: dict[str, object] = {}
    if not is_new:
        first = Process(folder)
        _asked(first)
        first.close()
    lake.insert("r", [(90_000, 3, 500)])
    second, third = Process(folder), Process(folder)
    with full():
        told["while"] = _asked(second)
        second.sketches.relations.checkpoint.flush()
        told["problem"] = second.sketches.relations.checkpoint.problem
        told["other"] = _asked(third)
        third.close()
    told["other again"] = _asked(Process(folder))
    lake.delete("r", "id = 3005")
    told["after"] = _asked(second)
    second.sketches.relations.checkpoint.flush()
    told["problem after"] = second.sketches.relations.checkpoint.problem
    second.close()
    told["last"] = _asked(Process(folder))
    return told


def tell(kind: str, tables: Path, folder: Path, left: int, is_new: bool) -> None:
    """Live in a folder, on a copy of the tables, and write what happened, with what was logged, into its file ``told``."""
    # In memory, where no limit is.
    logged = io.StringIO()
    logging.basicConfig(level=logging.WARNING, stream=logged)
    shutil.copytree(tables, folder, dirs_exist_ok=True)
    store = folder / "_imp" / "store"
    if kind == "disk":
        mount(store)
    full: Full = (lambda: filled(store, left)) if kind == "disk" else (lambda: limited(left))
    told = live(folder, full, is_new) | {"log": logged.getvalue()}
    (folder / "told").write_text(json.dumps(told))


if __name__ == "__main__":
    kind, tables, *cases = sys.argv[1:]
    triples = zip(cases[::3], cases[1::3], cases[2::3], strict=True)
    codes = run_forked(partial(tell, kind, Path(tables), Path(folder), int(left), begin == "new") for folder, left, begin in triples)
    sys.stdout.write(json.dumps(codes))
