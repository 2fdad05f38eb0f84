"""``imp metrics``: prints what the processes of a warehouse have counted, and opens nothing."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from imp_driver.cli.main import main
from imp_driver.observe.registry import Observer


def _warehouse(tmp_path: Path) -> Path:
    folder = tmp_path / "ware house"
    (folder / "_imp").mkdir(parents=True)
    return folder


def _count(warehouse: Path, queries: int) -> None:
    observer = Observer(warehouse)
    observer.connect("store", dict)
    observer.metrics.count("imp_statements_total", "query", amount=queries)
    observer.metrics.observe("imp_stage_seconds", 0.1, "execute")
    observer.disconnect()


def test_the_counts_of_all_processes_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warehouse = _warehouse(tmp_path)
    _count(warehouse, 2)
    _count(warehouse, 3)
    assert main(["metrics", f"imp:///{tmp_path}/ware%20house?sketch=lazy"]) == 0
    captured = capsys.readouterr()
    families = {family.name: family for family in text_string_to_metric_families(captured.out)}
    (statements,) = families["imp_statements"].samples
    assert (statements.labels, statements.value) == ({"warehouse": str(warehouse), "kind": "query"}, 5)
    assert [each.value for each in families["imp_stage_seconds"].samples if each.name.endswith("_count")] == [2]
    assert captured.err == ""


def test_it_needs_no_extra(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _count(_warehouse(tmp_path), 1)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(["metrics", f"imp:///{tmp_path}/ware%20house"]) == 0
    assert 'kind="query"} 1' in capsys.readouterr().out


def test_a_warehouse_without_counts_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _warehouse(tmp_path)
    assert main(["metrics", f"imp:///{tmp_path}/ware%20house"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, "nothing is counted" in captured.err) == ("", True)


@pytest.mark.parametrize("command", ["metrics", "advise"])
def test_no_warehouse_is_one_line_and_nothing_is_made(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, f"imp:///{tmp_path}/typo"]) == 1
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n"), "There is no warehouse in" in captured.err) == ("", 1, True)
    assert list(tmp_path.iterdir()) == []
