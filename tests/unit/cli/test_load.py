"""``imp load`` without an engine: what it refuses before anything is opened, and the statements that it sends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import imp_driver
from imp_driver.cli.main import main


class FakeCursor:
    def __init__(self, names: list[str], rows: list[tuple[Any, ...]]) -> None:
        self.description = [(name, None, None, None, None, None, None) for name in names]
        self._rows = rows

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._rows

    def close(self) -> None:
        return None

    def __enter__(self) -> FakeCursor:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class FakeConnection:
    """Answers what ``imp load`` asks, and writes down everything else. ``error`` is raised by CREATE TABLE."""

    def __init__(self, columns: list[tuple[str, str]]) -> None:
        self.columns = columns
        self.properties: dict[str, str] = {}
        self.error: imp_driver.Error | None = None
        self.sent: list[str] = []

    def execute(self, text: str) -> FakeCursor:
        if text.startswith("DESCRIBE QUERY"):
            return FakeCursor(["col_name", "data_type"], [*self.columns])
        if text.startswith("DESCRIBE DETAIL"):
            return FakeCursor(["numFiles", "properties"], [(7, self.properties)])
        if text.startswith("SELECT count"):
            return FakeCursor(["count(1)"], [(42,)])
        self.sent.append(text)
        if self.error is not None and " TABLE " in text:
            raise self.error
        return FakeCursor([], [])

    def __enter__(self) -> FakeConnection:
        return self

    def __exit__(self, *_: object) -> None:
        return None


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> FakeConnection:
    found = FakeConnection([("id", "bigint"), ("Shop", "int"), ("tags", "array<int>")])

    def connect(url: str, **options: object) -> FakeConnection:
        assert (url, options) == ("imp:///folder", {"sketch": "off"})
        return found

    monkeypatch.setattr(imp_driver, "connect", connect)
    return found


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., str]:
    def make(name: str, content: bytes = b"") -> str:
        (tmp_path / name).write_bytes(content)
        return str(tmp_path / name)

    return make


def _load(*arguments: str) -> int:
    return main(["load", "imp:///folder", *arguments])


def test_a_table_is_made_ranged_and_sorted(
    connection: FakeConnection, file: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _load("db.t", file("one.csv"), file("two, {x}.CSV.gz"), "--cluster-by", "shop", "--files", "8") == 0
    view, create = connection.sent
    assert view.startswith("CREATE OR REPLACE TEMPORARY VIEW __imp_load USING csv OPTIONS (path '")
    assert "mode 'FAILFAST'" in view
    rows = "SELECT * FROM (SELECT /*+ REPARTITION_BY_RANGE(8, `Shop`) */ * FROM __imp_load) SORT BY `Shop`"
    assert create == f"CREATE TABLE `db`.`t` USING DELTA AS {rows}"
    assert "db.t has 42 rows in 7 files" in capsys.readouterr().out


def test_a_table_is_replaced_or_added_to(connection: FakeConnection, file: Callable[..., str]) -> None:
    path = file("one.parquet")
    assert _load("t", path, "--cluster-by", "id", "--replace") == 0
    assert connection.sent[-1].startswith(
        "CREATE OR REPLACE TABLE `t` USING DELTA AS SELECT * FROM (SELECT /*+ REPARTITION_BY_RANGE(64, `id`)"
    )
    assert _load("t", path, "--cluster-by", "id", "--append") == 0
    assert connection.sent[-1].startswith("INSERT INTO `t` BY NAME SELECT")


def test_a_column_far_back_gets_statistics(connection: FakeConnection, file: Callable[..., str]) -> None:
    connection.columns = [(f"c{number}", "int") for number in range(40)]
    path = file("rows.jsonl")
    assert _load("t", path, "--cluster-by", "c39") == 0
    assert " USING DELTA TBLPROPERTIES ('delta.dataSkippingStatsColumns' = '`c0`,`c1`," in connection.sent[-1]
    assert "`c30`,`c39`') AS SELECT" in connection.sent[-1]
    assert _load("t", path, "--cluster-by", "c39", "--append") == 0
    assert connection.sent[-2].startswith("ALTER TABLE `t` SET TBLPROPERTIES ('delta.dataSkippingStatsColumns'")
    connection.properties = {"delta.dataSkippingStatsColumns": "c39"}
    assert _load("t", path, "--cluster-by", "c39", "--append") == 0
    assert not connection.sent[-2].startswith("ALTER TABLE")


@pytest.mark.parametrize(("content", "is_array"), [(b' \n[{"a": 1}]', True), (b'{"a": 1}\n{"a": 2}\n', False)])
def test_a_json_file_is_lines_or_an_array(connection: FakeConnection, file: Callable[..., str], content: bytes, is_array: bool) -> None:
    assert _load("t", file("rows.json", content), "--cluster-by", "id") == 0
    assert ("multiLine 'true'" in connection.sent[0]) == is_array


@pytest.mark.parametrize(
    ("names", "column", "words"),
    [
        (["gone.csv"], "id", "gone.csv does not exist"),
        (["folder"], "id", "is a folder; name its files"),
        (["rows.xlsx"], "id", "rows.xlsx is none of .csv, .parquet"),
        (["rows.csv", "rows.parquet"], "id", "one format, not csv and parquet"),
        (["rows.csv"], "shpo", "Did you mean 'Shop'?"),
        (["rows.csv"], "tags", "type array<int>"),
        (["rows.csv"], "f(id)", "backticks"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    connection: FakeConnection, tmp_path: Path, capsys: pytest.CaptureFixture[str], names: list[str], column: str, words: str
) -> None:
    (tmp_path / "folder").mkdir()
    for name in ("rows.csv", "rows.parquet", "rows.xlsx"):
        (tmp_path / name).touch()
    assert _load("t", *(str(tmp_path / name) for name in names), "--cluster-by", column) == 1
    error = capsys.readouterr().err
    assert words in error
    assert len(error.splitlines()) == 1
    assert not any(" TABLE " in text for text in connection.sent)


def test_an_existing_table_is_not_touched_unasked(
    connection: FakeConnection, file: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    connection.error = imp_driver.ProgrammingError("it is there", error_class="TABLE_OR_VIEW_ALREADY_EXISTS")
    assert _load("t", file("rows.csv"), "--cluster-by", "id") == 1
    assert "say --replace or --append" in capsys.readouterr().err
    connection.error = imp_driver.ProgrammingError("something else")
    assert _load("t", file("rows.csv"), "--cluster-by", "id") == 1
    assert "something else" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("t", "a.csv"), ("t", "--cluster-by", "id"), ("t", "a.csv", "--cluster-by", "id", "--files", "0")])
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as caught:
        _load(*arguments)
    assert caught.value.code == 2
    with pytest.raises(SystemExit):
        _load("t", "a.csv", "--cluster-by", "id", "--append", "--replace")
