"""The shell ``imp sql`` with a script as its input."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from imp_driver.cli.main import main


def _run(monkeypatch: pytest.MonkeyPatch, warehouse: Path, script: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(script))
    monkeypatch.setenv("COLUMNS", "200")
    return main(["sql", f"imp:///{warehouse}"])


@pytest.mark.usefixtures("engine")
def test_a_script_is_run_and_the_report_is_shown(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = """
    CREATE TABLE shell AS SELECT id DIV 10 AS g, id AS x FROM range(100);
    SELECT g, sum(x) AS total FROM shell
    GROUP BY g HAVING sum(x) > 900;
    DELETE FROM shell WHERE g = 9;
    """
    assert _run(monkeypatch, warehouse, script) == 0
    shown = capsys.readouterr().out
    assert "945" in shown
    assert "CAPTURED: ANSWERED" in shown
    assert "from state" in shown
    assert "10 rows affected, " in shown
    assert _run(monkeypatch, warehouse, "SELECT nope FROM shell;\nSELECT 1;\n") == 1
    assert "imp: line 1: ProgrammingError: [UNRESOLVED_COLUMN" in capsys.readouterr().err
