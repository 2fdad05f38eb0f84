"""A store whose disk is really full: a limit of the system on the length of files, and a small file system that is filled."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_OWN_MOUNTS = ("unshare", "--mount", "--map-root-user")


@cache
def _may_mount(folder: Path) -> bool:
    try:
        command = [*_OWN_MOUNTS, "mount", "-t", "tmpfs", "tmpfs", str(folder)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("begin", ["new", "old"])
@pytest.mark.parametrize(
    ("kind", "left", "error"),
    [
        # With 6,000 bytes the states are written and the records that would name them are not.
        ("limit", 0, "File too large"),
        ("limit", 6_000, "File too large"),
        ("disk", 0, "No space left"),
        ("disk", 24_000, "No space left"),
    ],
)
def test_a_full_disk(tmp_path: Path, kind: str, left: int, error: str, begin: str) -> None:
    if kind == "disk" and not _may_mount(tmp_path):
        pytest.skip("this user may not mount a file system in a name space of its own")
    program = [sys.executable, "-m", "tests.faults.full_disk", str(tmp_path), kind, str(left), begin]
    ran = subprocess.run([*(_OWN_MOUNTS if kind == "disk" else ()), *program], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr[-3000:]
    told = json.loads(ran.stdout)
    # Every answer was compared with the plain one there. What was saved before is maintained, by other processes too.
    first = ["MAINTAINED" if begin == "old" else "CAPTURED"] * 3
    assert [told[name] for name in ("while", "other", "other again")] == [first] * 3
    assert told["problem"].startswith("The sketch store ")
    assert "cannot be written" in told["problem"]
    assert error in told["problem"]
    assert "WARNING:imp_driver.maintain:The sketch store" in ran.stderr
    # With room again the process saves what it has, and the next one needs nothing but that.
    assert (told["after"], told["problem after"]) == (["MAINTAINED"] * 3, "")
    assert told["last"] == ["FRESH"] * 3
