"""The command without an engine: usage, comparison of answers, the demo's dashboard and writer."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import math
import sys
import threading
from decimal import Decimal
from pathlib import Path

import pytest

import imp_driver
from imp_driver.cli.answers import same
from imp_driver.cli.main import main
from imp_driver.cli.synthetic import SyntheticTable, having
from imp_driver.cli.workload import queries, updates
from imp_driver.cli.writer import Writer
from tests.unit.cli.fakes import connection


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ([], [], True),
        ([(1, 0.1 + 0.2)], [(1, 0.3)], True),
        ([(1, 0.3)], [(1, 0.3001)], False),
        ([(1, "a"), (2, "b")], [(2, "b"), (1, "a")], True),
        ([(1,), (1,)], [(1,)], False),
        ([(1,)], [(1.0,)], False),
        ([(None, math.nan)], [(None, math.nan)], True),
        ([(Decimal("1.0"),)], [(Decimal("1.1"),)], False),
        ([(1, 2.0), (1, 1.0)], [(1, 1.0), (1, 2.0)], True),
    ],
)
def test_same(one: list[tuple[object, ...]], other: list[tuple[object, ...]], equal: bool) -> None:
    assert same(one, other) is equal


def test_metrics_and_errors_need_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("rich", "prompt_toolkit", "pygments"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in [each for each in sys.modules if each.startswith(("imp_driver.cli", "rich."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    without = importlib.import_module("imp_driver.cli.main")
    assert without.main(["metrics", f"imp:///{tmp_path / 'none'}"]) == 1
    assert "There is no warehouse" in capsys.readouterr().err
    for command, advice in (
        (["sql", "imp:///w"], "imp sql needs rich: pip install 'imp_driver[cli]', or choose --format csv or json\n"),
        (["advise", "imp:///w"], "imp advise needs rich: pip install 'imp_driver[cli]'\n"),
        (["demo"], "imp demo needs rich and matplotlib: pip install 'imp_driver[demo]'\n"),
        (["sql", "postgres:///x", "--format", "csv"], "imp: Cannot read the URL"),
    ):
        assert without.main(command) == 1
        assert capsys.readouterr().err.startswith(advice)
    monkeypatch.setattr(imp_driver, "connect", lambda url: connection()[0])
    assert without.main(["sql", "imp:///w", "-c", "SELECT * FROM sales; \\d", "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("shop,name\r\n1,Nord\r\n")


def test_the_dashboard_is_reproducible_and_its_changes_are_mixed() -> None:
    table = SyntheticTable("r", 1000)
    asked = list(queries(table, 12, 7))
    assert asked == list(queries(table, 12, 7))
    assert asked != list(queries(table, 12, 8))
    assert len(asked) == 12
    assert all(each.at(3).count("FROM r VERSION AS OF 3") == 1 for each in asked)
    changes = [each.text for each in itertools.islice(updates(table, 7), 6)]
    assert changes == [each.text for each in itertools.islice(updates(table, 7), 6)]
    assert [text.split()[0] for text in changes] == 2 * ["INSERT", "UPDATE", "DELETE"]


class Executed:
    """A connection that notes what is run, and fails from the third statement on."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.are_enough = threading.Event()

    def execute(self, text: str) -> Executed:
        if len(self.texts) == 2:
            self.are_enough.set()
            raise imp_driver.OperationalError("the disk is full")
        self.texts.append(text)
        return self

    def close(self) -> None:
        """Nothing is open."""


def test_the_writer_goes_on_until_it_is_left_and_tells_what_ended_it() -> None:
    connection = Executed()
    with (
        pytest.raises(imp_driver.OperationalError, match="the disk is full"),
        Writer(connection, updates(SyntheticTable("r", 10), 1), 0.001) as writer,  # type: ignore[arg-type]
    ):
        assert connection.are_enough.wait(30)
    assert writer.commits == 2
    assert [text.split()[0] for text in connection.texts] == ["INSERT", "UPDATE"]


@pytest.mark.parametrize("aggregates", [1, 3, 10])
def test_having_tests_so_many_aggregates(aggregates: int) -> None:
    text = having(aggregates, 10, 60)
    tested = {part.split(")")[0] for part in text.replace("max(", "avg(max ").split("avg(")[1:]}
    # The first aggregate of the query, avg(b), stands in the SELECT list.
    assert len(tested | {"b"}) == aggregates


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["unknown"],
        ["demo", "--rows", "0"],
        ["demo", "--size", "tiny"],
        ["sql"],
        ["sql", "imp:///w", "-c", "x", "-f", "y"],
        ["advise"],
        ["metrics"],
    ],
)
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: imp" in capsys.readouterr().err


def test_a_number_that_cannot_be_read_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["demo", "--rows", "x"])
    assert "argument --rows: must be a whole number above 0, not 'x'" in capsys.readouterr().err


def test_over_a_server_there_is_no_record_to_advise_from(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["advise", "imp+connect://localhost:1/s"]) == 0
    assert "Over Spark Connect the record" in capsys.readouterr().out
    assert main(["metrics", "imp+connect://localhost:1/s"]) == 1
    assert "Counters are those of an embedded warehouse" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["sql", "advise", "metrics"])
def test_a_bad_url_is_one_line(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "postgres:///x"]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("imp: Cannot read the URL")
    assert len(captured.err.splitlines()) == 1
