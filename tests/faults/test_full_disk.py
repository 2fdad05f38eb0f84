"""A store whose disk is really full: a limit of the system on the length of files, and a small file system that is filled."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.faults.scenario import make_tables
from tests.forks import PATIENT

ROOT = Path(__file__).parents[2]
_OWN_MOUNTS = ("unshare", "--mount", "--map-root-user")


CASES = (
    # With 6,000 bytes the states are written and the records that would name them are not.
    ("limit", 0, "File too large"),
    ("limit", 6_000, "File too large"),
    ("disk", 0, "No space left"),
    ("disk", 24_000, "No space left"),
)
BEGINS = ("new", "old")
Lived = dict[tuple[int, str], tuple[Path, int, str]]
"""Of each number of bytes and begin: the folder, the exit code, and what all processes of the kind wrote as errors."""


def _may_mount(folder: Path) -> bool:
    try:
        command = [*_OWN_MOUNTS, "mount", "-t", "tmpfs", "tmpfs", str(folder)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Lived]:
    """Return what runs all cases of a kind, once."""
    tables = tmp_path_factory.mktemp("tables")
    make_tables(tables)

    @cache
    def run(kind: str) -> Lived:
        if kind == "disk" and not _may_mount(tmp_path_factory.mktemp("mounted")):
            return {}
        folders = {(left, begin): tmp_path_factory.mktemp(kind) for each, left, _ in CASES if each == kind for begin in BEGINS}
        arguments = [str(each) for (left, begin), folder in folders.items() for each in (folder, left, begin)]
        program = [sys.executable, "-m", "tests.faults.full_disk", kind, str(tables), *arguments]
        command = [*(_OWN_MOUNTS if kind == "disk" else ()), *program]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENT * len(folders), check=False)
        assert ran.returncode == 0, ran.stderr[-3000:]
        codes = json.loads(ran.stdout)
        return {case: (folder, code, ran.stderr) for (case, folder), code in zip(folders.items(), codes, strict=True)}

    return run


@pytest.mark.parametrize("begin", BEGINS)
@pytest.mark.parametrize(("kind", "left", "error"), CASES)
def test_a_full_disk(lived: Callable[[str], Lived], kind: str, left: int, error: str, begin: str) -> None:
    found = lived(kind)
    if not found:
        pytest.skip("this user may not mount a file system in a name space of its own")
    folder, code, errors = found[left, begin]
    assert code == 0, errors[-3000:]
    told = json.loads((folder / "told").read_text())
    # Every answer was compared with the plain one there. What was saved before is maintained, by other processes too.
    first = ["MAINTAINED" if begin == "old" else "CAPTURED"] * 3
    assert [told[name] for name in ("while", "other", "other again")] == [first] * 3
    assert told["problem"].startswith("The sketch store ")
    assert "cannot be written" in told["problem"]
    assert error in told["problem"]
    assert "WARNING:imp_driver.maintain:The sketch store" in told["log"]
    # With room again the process saves what it has, and the next one needs nothing but that.
    assert (told["after"], told["problem after"]) == (["MAINTAINED"] * 3, "")
    assert told["last"] == ["FRESH"] * 3
