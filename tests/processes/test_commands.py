"""The command ``imp`` as a user runs it, small."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _imp(*arguments: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    command = [sys.executable, "-m", "imp_driver", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)


def test_demo_ends_with_equal_answers_and_a_picture_and_removes_what_it_made(tmp_path: Path) -> None:
    folders = ("--warehouse", tmp_path / "warehouse", "--result", tmp_path / "result")
    result = _imp("demo", "--rows", 20_000, "--queries", 9, *folders)
    assert result.returncode == 0, result.stdout + result.stderr
    records = [json.loads(line) for line in result.stdout.splitlines()]
    kinds = [each["record"] for each in records]
    assert kinds == ["started", "table", *["query"] * 9, "summary", "left", "left"]
    assert "MAINTAINED" in {each.get("decision") for each in records}
    summary = records[kinds.index("summary")]
    assert (summary["different"], summary["queries"]) == (0, 9)
    assert summary["captures"] + summary["from_memory"] >= 8
    assert (tmp_path / "result" / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert _imp("demo", "--clean", *folders).returncode == 0
    assert list(tmp_path.iterdir()) == []
