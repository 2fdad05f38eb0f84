"""``imp load`` without an engine: what it refuses before anything is opened, and the statements that it sends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import imp_driver
from imp_driver.cli import load
from imp_driver.cli.main import main
from imp_driver.values.quoting import quoted_text
from tests.unit.cli.load_fakes import FakeConnection


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> FakeConnection:
    found = FakeConnection([("id", "bigint"), ("Shop", "int"), ("tags", "array<int>")])

    def connect(url: str, **options: object) -> FakeConnection:
        assert (url, options) == ("imp:///folder", {"sketch": "off"})
        return found

    monkeypatch.setattr(imp_driver, "connect", connect)
    # The fake makes no warehouse.
    monkeypatch.setattr(load, "folder_of", lambda url: None)
    return found


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., str]:
    def make(name: str, content: bytes = b"id,Shop,tags\n") -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return str(path)

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
    told = capsys.readouterr().out
    assert "2 files (26 bytes) with the columns\n  id    bigint\n  Shop  int\n  tags  array<int>\ninto db.t, a new table: 8 files" in told
    assert "Loaded 42 rows in " in told
    assert "a second" not in told
    assert "db.t has 42 rows in 7 files; what was loaded is clustered by Shop." in told


def test_without_a_column_rows_stay_in_order_and_a_hint_is_given(
    connection: FakeConnection, file: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [file("one.csv"), file("two.csv")]
    assert _load("t", *paths) == 0
    assert "--cluster-by" not in capsys.readouterr().out
    assert connection.sent[-1] == "CREATE TABLE `t` USING DELTA AS SELECT /*+ COALESCE(1) */ * FROM __imp_load"
    assert _load("t", *paths, "--files", "3") == 0
    assert "With --cluster-by COLUMN" in capsys.readouterr().out
    assert connection.sent[-1].endswith("AS SELECT /*+ REPARTITION(3) */ * FROM __imp_load")


def test_a_dry_run_says_what_would_be_done_and_writes_nothing(
    connection: FakeConnection, file: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _load("t", file("rows.csv"), "--cluster-by", "id", "--dry-run") == 0
    told = capsys.readouterr().out
    assert "into t, a new table: 1 file.\nNothing was written (--dry-run).\n" in told
    assert [text.split()[0:2] for text in connection.sent] == [["CREATE", "OR"]]
    connection.target = [("id", "bigint")]
    assert _load("t", file("rows.csv"), "--dry-run") == 1


def test_names_that_delta_refuses_are_mapped(
    connection: FakeConnection, file: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = file("rows.csv", b"id,unit price\n")
    connection.columns = [
        ("id", "bigint"),
        ("unit price", "decimal(10,2)"),
        ("in", "struct<a:int,b c:int>"),
        ("out", "struct<d:decimal(3,1)>"),
    ]
    line = "The table has column mapping ('delta.columnMapping.mode' = 'name'), which Delta needs for the names of 'unit price', 'in'."
    assert _load("t", path, "--dry-run") == 0
    assert line in capsys.readouterr().out
    assert _load("t", path) == 0
    assert line in capsys.readouterr().out
    assert connection.sent[-1].startswith("CREATE TABLE `t` USING DELTA TBLPROPERTIES ('delta.columnMapping.mode' = 'name') AS SELECT")
    connection.target = [*connection.columns]
    assert _load("t", path, "--append") == 0
    assert "column mapping" not in capsys.readouterr().out


@pytest.mark.parametrize(("separator", "given"), [(";", ";"), ("\t", "tab"), ("\t", "\\t"), ("|", "|")])
def test_values_with_another_separator(
    connection: FakeConnection, file: Callable[..., str], capsys: pytest.CaptureFixture[str], separator: str, given: str
) -> None:
    path = file("rows.csv", f"id{separator}Shop\n1{separator}2\n3\n".encode())
    assert _load("t", path) == 1
    told = capsys.readouterr().err
    assert "is one column by commas, and the separator seems to be" in told
    assert f"say --separator {'tab' if separator == chr(9) else repr(separator)}, or --separator ','" in told
    assert connection.sent == []
    assert _load("t", path, "--separator", given) == 0
    assert f"sep {quoted_text(separator)}" in connection.sent[0]
    connection.error = imp_driver.DataError("what Spark says", error_class="MALFORMED_CSV_RECORD")
    capsys.readouterr()
    assert _load("t", path, "--separator", given) == 1
    assert "line 3 has 1 value, and the header has 2: 3" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "given", "words"), [("a.json", ";", "files of CSV"), ("a.csv", ";;", "one character"), ("a.csv", '"', "no quote")]
)
def test_separators_that_are_none(
    connection: FakeConnection, file: Callable[..., str], capsys: pytest.CaptureFixture[str], name: str, given: str, words: str
) -> None:
    assert _load("t", file(name), "--separator", given) == 1
    assert words in capsys.readouterr().err
    assert connection.sent == []


def test_a_comma_may_be_said_where_a_column_has_another_separator_in_its_name(connection: FakeConnection, file: Callable[..., str]) -> None:
    assert _load("t", file("rows.csv", b"a;b\n1\n"), "--separator", ",") == 0


def test_a_dry_run_makes_no_warehouse(file: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def connect(url: str | None = None, *, warehouse: str = "", sketch: str = "") -> FakeConnection:
        opened.append(url or warehouse)
        return FakeConnection([("id", "bigint")])

    monkeypatch.setattr(imp_driver, "connect", connect)
    url = f"imp:////{tmp_path}/warehouse"
    assert main(["load", url, "t", file("rows.csv"), "--dry-run"]) == 0
    assert "imp_load_" in opened[0]
    assert not (tmp_path / "warehouse").exists()
    (tmp_path / "warehouse" / "_imp").mkdir(parents=True)
    assert main(["load", url, "t", file("rows.csv"), "--dry-run"]) == 0
    assert opened[1] == url


def test_folders_give_their_files_and_the_columns_in_their_names(
    connection: FakeConnection, file: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    connection.columns += [("day", "date")]
    for name in ("t/day=2024-01-01/a.parquet", "t/day=2024-01-02/b.parquet", "t/_SUCCESS", "t/day=2024-01-02/.b.parquet.crc"):
        file(name)
    expected = ["day=2024-01-01/000000.parquet", "day=2024-01-02/000001.parquet"]
    for named in ([str(tmp_path / "t")], [str(tmp_path / "t" / f"day=2024-01-0{day}") for day in (1, 2)], [str(tmp_path / "t" / "day*")]):
        assert _load("t", *named) == 0
        assert connection.linked == expected
        assert "  day   date (of folders)\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("make", "name", "words"),
    [
        (["t/_delta_log/0.json", "t/a.parquet"], "t", "is a Delta table, which needs no loading"),
        (["t/_SUCCESS"], "t", "has no files"),
        (["t/day=1/a.csv", "t/b.csv"], "t", "must name the same columns"),
        (["t/a.csv"], "t/*.parquet", "No file is named like"),
        (["t/a.csv", "t/readme.md"], "t", "readme.md is none of .csv"),
    ],
)
def test_folders_that_cannot_be_loaded(
    connection: FakeConnection,
    file: Callable[..., str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    make: list[str],
    name: str,
    words: str,
) -> None:
    for each in make:
        file(each)
    assert _load("t", str(tmp_path / name)) == 1
    assert words in capsys.readouterr().err
    assert connection.sent == []


def test_columns_that_do_not_fit_are_named(
    connection: FakeConnection, file: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = file("rows.csv")
    assert _load("t", path, "--append") == 1
    assert "There is no table t to append to" in capsys.readouterr().err
    connection.target = [("id", "bigint"), ("tags", "array<int>")]
    assert _load("t", path, "--append") == 1
    assert "The table t has no column 'Shop'. It has id bigint, tags array<int>." in capsys.readouterr().err
    connection.target = [("id", "int"), ("SHOP", "date"), ("tags", "array<int>")]
    assert _load("t", path, "--append") == 1
    assert "'Shop' is int in the files and date in the table" in capsys.readouterr().err
    assert not any(text.startswith("INSERT") for text in connection.sent)


def test_values_that_do_not_fit_are_counted(
    connection: FakeConnection, file: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    connection.columns = [("id", "string"), ("Shop", "bigint")]
    connection.target = [("id", "int"), ("shop", "int")]
    connection.error = imp_driver.DataError("what Spark says", error_class="CAST_INVALID_INPUT")
    connection.misfits = (3, "foo", 0, None)
    assert _load("t", file("rows.csv"), "--append") == 1
    told = capsys.readouterr().err
    assert "'id' is string in the files and int in the table, and 3 of its values do not fit, such as 'foo'" in told
    assert "Shop" not in told
    assert "count_if(`id` IS NOT NULL AND try_cast(`id` AS int) IS NULL)" in connection.sent[-1]
    connection.misfits = (0, None, 0, None)
    assert _load("t", file("rows.csv"), "--append") == 1
    assert "what Spark says" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("short.csv", b'g,x\n1,2\n"a\nb",3\n4\n5,6\n', "line 5 has 1 value, and the header has 2: 4"),
        ("bad.jsonl", b'{"g": 1}\n\n{"g": \n', 'line 3 is no JSON object: {"g":'),
        ("none.csv", b"g,x\n1,2\n", "what Spark says"),
        ("array.json", b'[{"g": 1}, 2', "what Spark says"),
    ],
)
def test_a_bad_row_is_found(
    connection: FakeConnection, file: Callable[..., str], capsys: pytest.CaptureFixture[str], name: str, content: bytes, words: str
) -> None:
    header = content.splitlines()[0] + b"\n"
    good = file("good" + Path(name).suffix, header if name.endswith(".csv") else b'{"g": 1}\n')
    connection.error = imp_driver.DataError("what Spark says", error_class="MALFORMED_CSV_RECORD")
    bad = file(name, content)
    assert _load("t", good, bad) == 1
    told = capsys.readouterr().err
    assert words in told
    assert (bad in told) is (words != "what Spark says")


@pytest.mark.parametrize("name", ["latin.csv", "latin.jsonl"])
def test_text_that_is_no_utf_8_is_not_loaded(
    connection: FakeConnection, file: Callable[..., str], capsys: pytest.CaptureFixture[str], name: str
) -> None:
    path = file(name, b'{"g": 1}\n{"g": "\xe9"}\n')
    assert _load("t", path) == 1
    told = capsys.readouterr().err
    assert f"{path} is not text in UTF-8, and nothing was loaded: byte 16 (0xe9), in line 2, is no character of it." in told
    assert connection.sent == []


def test_spark_s_parser_of_json_has_no_error_class(
    connection: FakeConnection, file: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    connection.error = imp_driver.OperationalError("com.fasterxml: unexpected end")
    connection.error.__cause__ = ValueError("of a foreign library")
    assert _load("t", file("bad.jsonl", b'{"g": \n')) == 1
    assert "bad.jsonl line 1 is no JSON object" in capsys.readouterr().err


def test_files_without_columns_are_refused(
    connection: FakeConnection, file: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    connection.columns = []
    assert _load("t", file("rows.parquet")) == 1
    assert "The files have no columns." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ([b""], "0.csv is empty: it has not even a header."),
        ([b"a,b,a\n"], "0.csv names the column 'a' twice."),
        ([b"a,b\n", b"a,c\n"], "0.csv has a, b, and "),
    ],
)
def test_headers_that_do_not_go_together(
    connection: FakeConnection, file: Callable[..., str], capsys: pytest.CaptureFixture[str], contents: list[bytes], words: str
) -> None:
    assert _load("t", *(file(f"{number}.csv", content) for number, content in enumerate(contents))) == 1
    assert words in capsys.readouterr().err
    assert connection.sent == []


def test_a_table_is_replaced_or_added_to(connection: FakeConnection, file: Callable[..., str]) -> None:
    connection.target = [*connection.columns]
    path = file("one.parquet")
    assert _load("t", path, "--cluster-by", "id", "--replace") == 0
    assert connection.sent[-1].startswith(
        "CREATE OR REPLACE TABLE `t` USING DELTA AS SELECT * FROM (SELECT /*+ REPARTITION_BY_RANGE(1, `id`)"
    )
    assert _load("t", path, "--cluster-by", "id", "--append") == 0
    assert connection.sent[-1].startswith("INSERT INTO `t` BY NAME SELECT")


def test_a_column_far_back_gets_statistics(connection: FakeConnection, file: Callable[..., str]) -> None:
    connection.columns = [(f"c{number}", "int") for number in range(40)]
    path = file("rows.jsonl")
    assert _load("t", path, "--cluster-by", "c39") == 0
    assert " USING DELTA TBLPROPERTIES ('delta.dataSkippingStatsColumns' = '`c0`,`c1`," in connection.sent[-1]
    assert "`c30`,`c39`') AS SELECT" in connection.sent[-1]
    connection.target = [*connection.columns]
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
        (["folder"], "id", "has no files"),
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
        (tmp_path / name).write_text("id,Shop,tags\n")
    assert _load("t", *(str(tmp_path / name) for name in names), "--cluster-by", column) == 1
    error = capsys.readouterr().err
    assert words in error
    assert len(error.splitlines()) == 1
    assert not any(" TABLE " in text for text in connection.sent)


def test_an_existing_table_is_not_touched_unasked(
    connection: FakeConnection, file: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    connection.target = [*connection.columns]
    assert _load("t", file("rows.csv"), "--cluster-by", "id") == 1
    assert "say --replace or --append" in capsys.readouterr().err
    assert connection.sent == []
    connection.target = None
    connection.error = imp_driver.ProgrammingError("it is there", error_class="TABLE_OR_VIEW_ALREADY_EXISTS")
    assert _load("t", file("rows.csv"), "--cluster-by", "id") == 1
    assert "say --replace or --append" in capsys.readouterr().err
    connection.error = imp_driver.ProgrammingError("something else")
    assert _load("t", file("rows.csv"), "--cluster-by", "id") == 1
    assert "something else" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [("t",), ("t", "a.csv", "--graph", "--dry-run"), ("t", "a", "--format", "ttl"), ("t", "a.csv", "--cluster-by", "id", "--files", "0")],
)
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as caught:
        _load(*arguments)
    assert caught.value.code == 2
    with pytest.raises(SystemExit):
        _load("t", "a.csv", "--cluster-by", "id", "--append", "--replace")
