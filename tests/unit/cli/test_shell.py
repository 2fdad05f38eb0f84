"""The shell without an engine: results in each form, commands, files, what a script prints where and how it ends."""

from __future__ import annotations

import datetime
import io
import json
import math
import os
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import imp_driver
from imp_driver.cli.main import main
from imp_driver.cli.shell.messages import OnConsole
from imp_driver.cli.shell.outputs import Settings, Tables
from imp_driver.cli.shell.reports import ReportForm, report_lines
from imp_driver.cli.shell.shell import Ended, Shell, duration_told
from imp_driver.cli.values import as_json, as_text
from imp_driver.errors import cancelled
from imp_driver.reasons import Decision, DeltaSource, Reason
from imp_driver.values.refusal import Grounds
from imp_driver.values.report import SketchReport
from tests.unit.cli.fakes import connection
from tests.unit.dbapi.fakes import FakeStream


class Typed:
    """A shell at a screen of some width, without colours."""

    def __init__(self, answers: dict[str, object] | None = None, width: int = 80) -> None:
        self.connection, self.warehouse = connection(answers)
        self._screen = io.StringIO()
        console = Console(file=self._screen, width=width, color_system=None)
        self.shell = Shell(self.connection, Tables(console), OnConsole(console, is_script=False), Settings(is_timed=False))

    def __call__(self, text: str) -> str:
        """Return what a statement or command shows."""
        self._screen.seek(0)
        self._screen.truncate()
        self.shell.run(text)
        return self._screen.getvalue()


DESCRIBED = {
    "DESCRIBE TABLE nosuch": imp_driver.ProgrammingError("[..]\nSearch path: ..", error_class="TABLE_OR_VIEW_NOT_FOUND"),
    "DESCRIBE TABLE a b": imp_driver.ProgrammingError("[..]\n== SQL ==", error_class="PARSE_SYNTAX_ERROR"),
    "DESCRIBE TABLE denied": imp_driver.ProgrammingError("May not be read."),
}


@pytest.fixture
def typed() -> Iterator[Typed]:
    shell = Typed(
        {"INSERT": 3, "BAD": imp_driver.ProgrammingError("no such thing"), "STOP": cancelled("q"), "KEY": KeyboardInterrupt(), **DESCRIBED}
    )
    with shell.connection:
        yield shell


def shown(table: pa.Table, width: int, *commands: str) -> list[str]:
    shell = Typed({"q": table}, width)
    with shell.connection:
        for command in commands:
            shell(command)
        return shell("q").splitlines()


def test_a_result_has_numbers_to_the_right_and_null_apart_from_its_text(typed: Typed) -> None:
    assert typed("SELECT * FROM sales").splitlines()[3:] == [
        "│    1 │ Nord   │",
        "│    2 │ 'NULL' │",
        "│ NULL │ NULL   │",
        "└──────┴────────┘",
        "3 rows.",
        "NOT_USED: SKETCH_OFF",
    ]


def test_text_is_cut_to_the_width_and_numbers_are_not() -> None:
    table = pa.table({"id": [1234567890123456], "first": ["a" * 50], "a name that is long": ["b" * 50], "s": ["x"]})
    lines = shown(table, 80)
    assert {len(line) for line in lines[:5]} == {80}
    assert "1234567890123456" in lines[3]
    assert lines[3].count("…") == 2
    assert "a" * 50 in "\n".join(shown(table, 200))


@pytest.mark.parametrize("width", [60, 150, 300])
def test_every_value_of_many_columns_can_be_read(width: int) -> None:
    lines = shown(pa.table({f"name{number}": [f"value{number}"] for number in range(20)}), width)
    assert all(f"name{number}" in "\n".join(lines) and f"value{number}" in "\n".join(lines) for number in range(20))
    assert lines[0].startswith("row 1 ") is (width < 300)


def test_vertical_is_whole() -> None:
    lines = shown(pa.table({"a": ["x" * 60], "b": [None]}), 40, "\\x on")
    assert lines[0].startswith("row 1 ")
    assert sum(line.count("x") for line in lines) == 60
    assert any("NULL" in line for line in lines)


def test_a_plan_is_printed_as_it_is() -> None:
    plan = "== Plan ==\n* Scan " + "x" * 100
    assert shown(pa.table({"plan": [plan]}), 40)[:2] == plan.split("\n")


def test_a_single_long_text_is_folded() -> None:
    assert sum(line.count("x") for line in shown(pa.table({"a": ["x" * 100]}), 40)) == 100


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, "0 rows."),
        (1, "1 row."),
        (50, "50 rows."),
        (1_234, "1,234 rows, the first 50 shown."),
        (200_000, "More than 100,050 rows, the first 50 shown."),
    ],
)
def test_the_number_of_rows(count: int, told: str) -> None:
    table = pa.concat_tables(
        pa.table({"n": pa.array(range(begin, min(begin + 60_000, count)))}) for begin in range(0, max(count, 1), 60_000)
    )
    lines = shown(table, 80)
    assert lines[-2] == told
    assert len(lines) == 6 + min(count, 50)


def test_what_changes_rows_says_how_many(typed: Typed) -> None:
    assert typed("INSERT") == "3 rows affected.\n"
    assert typed("CREATE TABLE t") == "Done.\n"
    typed("\\timing on")
    assert typed("INSERT").startswith("3 rows affected, ")


@pytest.mark.parametrize(("seconds", "told"), [(0.0142, "14 ms"), (9.9, "9,900 ms"), (29.84, "29.8 s"), (4_000, "4,000.0 s")])
def test_long_times_are_told_in_seconds(seconds: float, told: str) -> None:
    assert duration_told(seconds) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [("BAD", "ProgrammingError: no such thing\n"), ("STOP", "Cancelled.\n"), ("KEY", "Cancelled.\n")],
)
def test_what_fails_is_one_line(typed: Typed, text: str, told: str) -> None:
    assert typed(text) == told
    assert typed.shell.run(text) is Ended.FAILED


@pytest.mark.parametrize("text", ["exit", "QUIT;", "\\q", "\\q;", "quit ;"])
def test_the_shell_is_left(typed: Typed, text: str) -> None:
    assert typed.shell.run(text) is Ended.LEFT
    assert typed.warehouse.texts == []


def test_tables_and_columns_are_listed(typed: Typed) -> None:
    assert [line.split() for line in typed("\\d").splitlines()[3:5]] == [
        ["│", "odd", "name", "│", "view", "│"],
        ["│", "sales", "│", "table", "│"],
    ]
    assert "Partition" not in typed("\\d sales;")
    assert typed("\\d sales").splitlines()[-1] == "2 rows."
    assert typed("\\dt") == typed("\\d")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\\x", "Values stand one below the other.\n"),
        ("\\x off", "Values stand beside each other where they fit.\n"),
        ("\\timing", "The time of each statement is shown.\n"),
        ("\\report", "Reports are short.\n"),
        ("\\report FULL", "Reports are full.\n"),
        ("\\report all", "\\report takes off, short, full, not 'all'.\n"),
        ("\\x yes", "\\x takes on or off, or nothing to change from one to the other, not 'yes'.\n"),
        ("\\dx", "There is no command \\dx; \\? lists those that there are.\n"),
        ("\\o a.txt", "a.txt has none of the endings .csv, .json and .parquet, which say how results are written.\n"),
        ("\\o", "Results are shown here.\n"),
        ("\\d nosuch", "There is no table or view nosuch; \\d alone lists those of the current schema.\n"),
        ("\\dt a b;", "\\d takes the name of one table, as it stands in SQL, not 'a b'.\n"),
        ("\\d denied", "May not be read.\n"),
    ],
)
def test_commands(typed: Typed, text: str, told: str) -> None:
    assert typed(text) == told


def test_help_names_every_command(typed: Typed) -> None:
    told = typed("\\?")
    assert all(
        f"\n  {each}" in told
        for each in ("\\?, \\h, help", "\\d [TABLE], \\dt", "\\x ", "\\timing ", "\\report ", "\\o ", "exit, quit, \\q")
    )
    assert typed("\\h") == typed("help") == typed("HELP;") == told
    assert typed.warehouse.texts == []


def test_a_folder_that_is_missing_is_named(typed: Typed, tmp_path: Path) -> None:
    missing = tmp_path / "none"
    assert f"There is no folder {missing}" in typed(f"\\o {missing / 'a.csv'}")
    (tmp_path / "folder.csv").mkdir()
    assert "is a folder" in typed(f"\\o '{tmp_path / 'folder.csv'}'")
    assert typed("SELECT * FROM sales").startswith("┏")


@pytest.mark.parametrize("ending", ["csv", "json", "parquet", "CSV"])
def test_results_go_to_a_file(typed: Typed, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"my sales.{ending}"
    assert f"Results go to {path}" in typed(f"\\o {path}").replace("\n", "")
    assert typed("SELECT * FROM sales").startswith(f"3 rows written to {path}.\n")
    assert typed("INSERT") == "3 rows affected.\n"
    typed("SELECT * FROM sales")
    assert "rows of other columns" in typed("SHOW TABLES")
    assert typed("\\o") == "Results are shown here.\n"
    assert typed("SELECT * FROM sales").startswith("┏")
    if ending == "parquet":
        assert pq.read_table(path)["name"].to_pylist() == 2 * ["Nord", "NULL", None]
    elif ending == "json":
        assert [json.loads(line)["name"] for line in path.read_text().splitlines()] == 2 * ["Nord", "NULL", None]
    else:
        assert path.read_bytes() == b"shop,name\r\n" + 2 * b"1,Nord\r\n2,NULL\r\n,\r\n"


class Broken(FakeStream):
    """Ends with an error after its batches."""

    def next_batch(self) -> pa.RecordBatch | None:
        batch = super().next_batch()
        if batch is None:
            raise imp_driver.OperationalError("the server is gone")
        return batch


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_result_that_ends_with_an_error_is_told_of(tmp_path: Path, ending: str) -> None:
    batch = pa.record_batch({"n": list(range(5_000))})
    shell = Typed({"q": Broken(batch.schema, [batch])})
    with shell.connection:
        shell(f"\\o {tmp_path / f'a.{ending}'}")
        assert "OperationalError: the server is gone" in shell("q")
        assert "rows of results that are not complete" in shell("\\o").replace("\n", " ")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_that_cannot_be_written_is_an_error(typed: Typed, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    path.symlink_to("/dev/full")
    typed(f"\\o {path}")
    told = typed("SELECT * FROM sales") + typed("\\o")
    assert "OperationalError: " in told
    assert "cannot be written: No space left on device" in told.replace("\n", " ")
    assert typed("SELECT * FROM sales").startswith("┏")


def test_what_parquet_cannot_hold_is_an_error(tmp_path: Path) -> None:
    interval = pa.array([pa.MonthDayNano((1, 2, 3))], pa.month_day_nano_interval())
    shell = Typed({"q": pa.table({"i": interval})})
    with shell.connection:
        shell(f"\\o {tmp_path / 'a.parquet'}")
        assert "NotSupportedError" in shell("q")


@pytest.mark.parametrize(
    ("value", "text", "as_member"),
    [
        (True, "true", "true"),
        (12, "12", "12"),
        (Decimal("0E-10"), "0.0000000000", "0.0000000000"),
        (0.1, "0.1", "0.1"),
        (math.nan, "NaN", '"NaN"'),
        (-math.inf, "-Infinity", '"-Infinity"'),
        ('a"ü', 'a"ü', '"a\\"ü"'),
        (b"\x01\xff", "01FF", '"01FF"'),
        (datetime.date(2026, 1, 2), "2026-01-02", '"2026-01-02"'),
        (datetime.datetime(2026, 1, 2, 3, 4, 5), "2026-01-02 03:04:05", '"2026-01-02T03:04:05"'),
        ([1, None, {"a": True}], '[1, null, {"a": true}]', '[1, null, {"a": true}]'),
        ({1: Decimal("1.50")}, '{"1": 1.50}', '{"1": 1.50}'),
    ],
)
def test_values(value: object, text: str, as_member: str) -> None:
    assert as_text(value) == text
    assert as_json(value) == as_member


def served(monkeypatch: pytest.MonkeyPatch, *arguments: str, script: str = "", answers: dict[str, object] | None = None) -> int:
    """Run ``imp sql`` on a connection without an engine."""
    monkeypatch.setattr(imp_driver, "connect", lambda url: connection(answers)[0])
    monkeypatch.setattr(sys, "stdin", io.StringIO(script))
    return main(["sql", "imp:///w", *arguments])


def test_csv_is_all_that_standard_output_has(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.table({"a,b": ['x"y', "", None, " z"], "n": [1, 2, 3, None]})
    statements = "SELECT * FROM sales; INSERT; q"
    assert served(monkeypatch, "-c", statements, "-c", "\\d", "--format", "csv", answers={"q": table, "INSERT": 2}) == 0
    captured = capsys.readouterr()
    first, second, third = captured.out.split("\r\n\r\n")
    assert first == "shop,name\r\n1,Nord\r\n2,NULL\r\n,"
    assert second == '"a,b",n\r\n"x""y",1\r\n"",2\r\n,3\r\n" z",'
    assert third == "table,kind\r\nodd name,view\r\nsales,table\r\n"
    assert [line.split(",")[0] for line in captured.err.splitlines()][:4] == ["3 rows", "NOT_USED: SKETCH_OFF", "2 rows affected", "4 rows"]
    read = pyarrow.csv.read_csv(
        io.BytesIO(f"{second}\r\n".encode()),
        convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False),
    )
    assert read.equals(table)


def test_json_is_an_object_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array(["x\n"]), pa.array([None])], names=["a", "a", "b"])
    assert served(monkeypatch, "--format", "json", "--report", "off", script="q;\nSELECT * FROM sales;", answers={"q": table}) == 0
    captured = capsys.readouterr()
    assert [json.loads(line) for line in captured.out.splitlines()][:2] == [{"a": 1, "a_2": "x\n", "b": None}, {"shop": 1, "name": "Nord"}]
    assert "SKETCH_OFF" not in captured.err


@pytest.mark.parametrize("form", ["table", "csv", "json"])
@pytest.mark.parametrize(
    ("arguments", "script", "where"),
    [
        (["-c", "INSERT; BAD", "-c", "LATER"], "", "statement 2: ProgrammingError: no such thing"),
        (["-c", "INSERT", "-c", "\\nope"], "", "statement 2: There is no command \\nope;"),
        ([], "INSERT;\n\nBAD;\nLATER", "line 3: ProgrammingError: no such thing"),
    ],
)
def test_a_script_ends_with_its_first_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], form: str, arguments: list[str], script: str, where: str
) -> None:
    answers: dict[str, object] = {"BAD": imp_driver.ProgrammingError("no such thing"), "LATER": AssertionError("is not run")}
    assert served(monkeypatch, *arguments, "--format", form, script=script, answers=answers) == 1
    assert f"imp: {where}" in capsys.readouterr().err


def test_a_file_is_a_script(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "a.sql"
    file.write_bytes(b"\xef\xbb\xbfINSERT;\nexit\nBAD;")
    answers: dict[str, object] = {"INSERT": 1, "BAD": AssertionError("is not run")}
    assert served(monkeypatch, "-f", str(file), answers=answers) == 0
    assert "1 row affected" in capsys.readouterr().out
    file.write_bytes(b"SELECT '\xff'")
    assert served(monkeypatch, "-f", str(file)) == 1
    assert f"imp: {file} is not in UTF-8" in capsys.readouterr().err
    assert served(monkeypatch, "-f", str(tmp_path / "none")) == 1
    assert "none cannot be read: No such file" in capsys.readouterr().err


def test_a_table_in_a_pipe_is_not_cut(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    table = pa.table({"a": ["x" * 300], "b": ["y" * 300]})
    assert served(monkeypatch, "-c", "q", answers={"q": table}) == 0
    assert f"│ {'x' * 300} │ {'y' * 300} │\n" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_a_pipe_that_is_closed_is_no_traceback(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding="utf-8") as closed:
        monkeypatch.setattr(sys, "stdout", closed)
        try:
            code: object = served(monkeypatch, "-c", "SELECT * FROM sales; INSERT", "--format", form)
        except SystemExit as left:
            code = left.code
    assert code == 1


def test_the_report() -> None:
    used = SketchReport(
        Decision.MAINTAINED,
        Reason.FILTERED,
        sketch_id="ab",
        table="t",
        attribute="a",
        version=3,
        tables={"t": 3},
        delta_rows=20,
        delta_source=DeltaSource.CHANGE_FEED,
        fragments_kept=1,
        fragments_total=9,
        runs_used=1,
        files_kept=2,
        files_total=64,
        bytes_kept=1_000,
        bytes_total=20_000,
        times={"parse": 0.25},
        executed_sql="SELECT\n 1",
        not_answered=Grounds(Reason.NOT_EXACT),
    )
    first, second = report_lines(used, ReportForm.SHORT)
    assert first == "MAINTAINED: FILTERED"
    assert "t.a at version 3, 20 changed rows" in second
    assert "2/64 files" in second
    told = "\n".join(report_lines(used, ReportForm.FULL))
    assert told.startswith(f"{first}\n{second}\n")
    assert all(
        each in told
        for each in ("parse 0.2 ms", "Spark ran: SELECT 1", "1,000 of 20,000", "at versions: t 3", "not from groups: NOT_EXACT: a value")
    )
    assert report_lines(used, ReportForm.OFF) == []
    refused = SketchReport(Decision.NOT_USED, Reason.SKETCH_OFF, "why")
    assert report_lines(refused, ReportForm.SHORT) == ["NOT_USED: SKETCH_OFF (why)"]
    assert report_lines(SketchReport(Decision.NOT_USED, Reason.NOT_A_QUERY), ReportForm.FULL) == []
