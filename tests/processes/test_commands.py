"""The command ``imp`` as a user runs it, small."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _imp(*arguments: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    command = [sys.executable, "-m", "imp_driver", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)


def test_demo_ends_with_equal_answers_and_a_picture(tmp_path: Path) -> None:
    result = _imp("demo", "--rows", 20_000, "--queries", 9, "--warehouse", tmp_path / "warehouse", "--result", tmp_path / "result")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "All answers are equal (" in result.stdout
    assert "MAINTAINED" in result.stdout
    assert (tmp_path / "result" / "demo.png").read_bytes().startswith(b"\x89PNG")
