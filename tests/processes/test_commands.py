"""The command ``imp`` as a user runs it, small."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _imp(*arguments: object, script: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    command = [sys.executable, "-m", "imp_driver", *map(str, arguments)]
    return subprocess.run(command, input=script, capture_output=True, text=True, timeout=300, check=False, env=environment)


def test_demo_ends_with_equal_answers_and_a_picture(tmp_path: Path) -> None:
    result = _imp("demo", "--rows", 20_000, "--queries", 9, "--warehouse", tmp_path / "warehouse", "--result", tmp_path / "result")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "All answers are equal." in result.stdout
    assert "MAINTAINED" in result.stdout
    assert (tmp_path / "result" / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_shell_runs_a_script_and_shows_the_report(tmp_path: Path) -> None:
    script = """
    CREATE TABLE t AS SELECT id DIV 10 AS g, id AS x FROM range(100);
    SELECT g, sum(x) AS total FROM t
    GROUP BY g HAVING sum(x) > 900;
    DELETE FROM t WHERE g = 9;
    """
    result = _imp("sql", f"imp:///{tmp_path}/warehouse", script=script)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "945" in result.stdout
    assert "CAPTURED: FILTERED" in result.stdout
    assert "10 rows affected." in result.stdout
    failed = _imp("sql", f"imp:///{tmp_path}/warehouse", script="SELECT nope FROM t;\nSELECT 1;\n")
    assert failed.returncode == 1
    assert "ProgrammingError: [UNRESOLVED_COLUMN" in failed.stdout
