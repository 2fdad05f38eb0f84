"""What both acts of the demo share: folders of their own, what is left and removed, the end of a run that cannot go on."""

from __future__ import annotations

import errno
import fcntl
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

import imp_driver
from imp_driver.cli import dashboard, demo_folders
from imp_driver.cli.demo_folders import IN_RESULT, IN_WAREHOUSE, MARKER, DemoFolder, claim, clean, made_rows, remember_rows
from imp_driver.cli.main import _complete_demo, _parser, main
from imp_driver.cli.records import in_bytes, in_time, tell
from imp_driver.cli.synthetic import SyntheticTable


@pytest.fixture
def folder(tmp_path: Path) -> DemoFolder:
    return DemoFolder(tmp_path / "deep" / "warehouse", IN_WAREHOUSE, "--warehouse")


def _fill(folder: DemoFolder) -> None:
    claim(folder)
    for name in ("_imp", "demo_table"):
        (folder.path / name / "inside").mkdir(parents=True)
        (folder.path / name / "inside" / "file").write_bytes(b"12345")


def test_what_the_demo_made_is_removed_whole(folder: DemoFolder) -> None:
    _fill(folder)
    claim(folder)
    [(path, size)] = clean([folder, DemoFolder(folder.path.parent / "none", IN_RESULT, "--result")])
    assert path == folder.path
    assert size > 10
    assert list(folder.path.parent.iterdir()) == []
    assert clean([folder]) == []


def test_a_folder_that_was_there_stays_empty(folder: DemoFolder) -> None:
    folder.path.mkdir(parents=True)
    _fill(folder)
    clean([folder])
    assert list(folder.path.iterdir()) == []


def test_a_folder_with_other_things_is_refused(folder: DemoFolder) -> None:
    folder.path.mkdir(parents=True)
    for name in "abcde":
        (folder.path / name).touch()
    with pytest.raises(imp_driver.OperationalError, match=r"holds other things \(a, b, c and 2 more\).*--warehouse"):
        claim(folder)
    with pytest.raises(imp_driver.OperationalError, match="did not make it"):
        clean([folder])
    assert len(list(folder.path.iterdir())) == 5


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(imp_driver.OperationalError, match="Not a directory"):
        claim(DemoFolder(tmp_path / "file", IN_RESULT, "--result"))


def test_nothing_is_removed_where_one_folder_is_not_all_the_demos(folder: DemoFolder, tmp_path: Path) -> None:
    _fill(folder)
    result = DemoFolder(tmp_path / "result", IN_RESULT, "--result")
    claim(result)
    (result.path / "mine.txt").touch()
    with pytest.raises(imp_driver.OperationalError, match=r"did not make \(mine.txt\)"):
        clean([folder, result])
    assert (folder.path / "demo_table").is_dir()


def test_a_link_is_not_followed(folder: DemoFolder, tmp_path: Path) -> None:
    _fill(folder)
    (tmp_path / "link").symlink_to(folder.path)
    with pytest.raises(imp_driver.OperationalError, match="is a link"):
        clean([DemoFolder(tmp_path / "link", IN_WAREHOUSE, "--warehouse")])
    assert (folder.path / MARKER).is_file()


def test_a_link_inside_is_removed_and_not_what_it_names(folder: DemoFolder, tmp_path: Path) -> None:
    claim(folder)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "kept").touch()
    (folder.path / "demo_table").symlink_to(tmp_path / "data")
    clean([folder])
    assert (tmp_path / "data" / "kept").is_file()
    assert not folder.path.exists()


def test_a_warehouse_in_use_is_not_removed(folder: DemoFolder) -> None:
    _fill(folder)
    with (folder.path / "_imp" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(imp_driver.OperationalError, match="Another process uses"):
            clean([folder])
    assert len(clean([folder])) == 1


@pytest.mark.parametrize("content", ["", "[]", '{"made_by": "somebody"}'])
def test_a_marker_of_somebody_else_is_no_marker(folder: DemoFolder, content: str) -> None:
    folder.path.mkdir(parents=True)
    (folder.path / MARKER).write_text(content)
    for act in (claim, lambda each: clean([each])):
        with pytest.raises(imp_driver.OperationalError, match="is not a file that imp demo has written"):
            act(folder)


def test_the_rows_of_the_table_are_remembered(folder: DemoFolder) -> None:
    claim(folder)
    assert made_rows(folder.path) is None
    remember_rows(folder.path, 100)
    claim(folder)
    assert made_rows(folder.path) == 100
    remember_rows(folder.path, None)
    assert made_rows(folder.path) is None


def _demo(tmp_path: Path, *arguments: str) -> int:
    return main(["demo", "--warehouse", str(tmp_path / "w"), "--result", str(tmp_path / "r"), *arguments])


def test_cleaning_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _demo(tmp_path, "--clean") == 0
    assert json.loads(capsys.readouterr().out) == {"record": "removed", "folder": None, "bytes": 0}
    for name, known in (("w", IN_WAREHOUSE), ("r", IN_RESULT)):
        claim(DemoFolder(tmp_path / name, known, ""))
    assert _demo(tmp_path, "--clean") == 0
    removed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["folder"] for each in removed] == [str(tmp_path / "w"), str(tmp_path / "r")]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("warehouse", "result"), [("a", "a"), ("a", "a/b"), ("a/b", "a")])
def test_the_two_folders_are_two(tmp_path: Path, warehouse: str, result: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--warehouse", str(tmp_path / warehouse), "--result", str(tmp_path / result)]) == 1
    assert "must be two folders" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "imp: The disk is full. "),
        (imp_driver.OperationalError("Job aborted: java.io.IOException: No space left on device"), "imp: The disk is full. "),
        (imp_driver.OperationalError("Spark has gone"), "imp: Spark has gone"),
        (KeyboardInterrupt(), "imp: interrupted"),
    ],
)
def test_a_run_that_cannot_go_on_says_what_it_leaves(
    error: BaseException, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def connect(**_: object) -> None:
        raise error

    monkeypatch.setattr(imp_driver, "connect", connect)
    assert _demo(tmp_path, "--rows", "1") == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(told)
    assert len(captured.err.splitlines()) == 1
    left = [json.loads(line) for line in captured.out.splitlines()]
    assert [(each["record"], each["folder"]) for each in left] == [("left", str(tmp_path / "w")), ("left", str(tmp_path / "r"))]
    assert left[0]["remove"] == f"imp demo --clean --warehouse {tmp_path / 'w'} --result {tmp_path / 'r'}"


def test_too_little_space_is_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def connect(**_: object) -> None:
        pytest.fail("it started")

    monkeypatch.setattr(imp_driver, "connect", connect)
    assert _demo(tmp_path, "--rows", "1" + "0" * 15) == 1
    assert "are free. Choose a smaller --size" in capsys.readouterr().err


def test_sizes_are_rows_and_queries(capsys: pytest.CaptureFixture[str]) -> None:
    def complete(*arguments: str) -> tuple[int, int]:
        parsed = _parser().parse_args(["demo", *arguments])
        _complete_demo(parsed)
        return parsed.rows, parsed.queries

    assert complete() == complete("--size", "medium")
    assert complete("--size", "small") < complete() < complete("--size", "large")
    assert complete("--rows", "7", "--queries", "3") == (7, 3)
    for wrong in (["--size", "small", "--rows", "7"], ["--clean", "--rows", "7"], ["--clean", "--queries", "7"]):
        with pytest.raises(SystemExit):
            complete(*wrong)
    with pytest.raises(SystemExit):
        main(["demo", "--help"])
    assert "4 million rows" in capsys.readouterr().out


def test_the_table_is_made_once_and_then_set_back(folder: DemoFolder) -> None:
    class Noting:
        """A connection that notes statements, and fails those that begin with ``failing``."""

        def __init__(self) -> None:
            self.texts: list[str] = []
            self.failing = "nothing"

        def execute(self, text: str) -> Noting:
            self.texts.append(text.split(demo_folders.TABLE)[0].strip())
            if text.startswith(self.failing):
                raise imp_driver.OperationalError("a file is missing")
            return self

        def close(self) -> None:
            """Nothing is open."""

    claim(folder)
    connection, console = Noting(), Console(file=io.StringIO())
    table = SyntheticTable(demo_folders.TABLE, 10)
    made = ["DROP TABLE IF EXISTS", "DROP TABLE IF EXISTS", "CREATE TABLE", "DROP STATE ALL"]
    for failing, expected in (
        ("nothing", made),
        ("nothing", ["RESTORE TABLE", "DROP STATE ALL"]),
        ("RESTORE", ["RESTORE TABLE", *made]),
    ):
        connection.texts, connection.failing = [], failing
        dashboard._prepare(connection, table, folder.path, console)  # type: ignore[arg-type]
        assert connection.texts == expected
    connection.failing = "CREATE"
    with pytest.raises(imp_driver.OperationalError):
        dashboard._prepare(connection, SyntheticTable(demo_folders.TABLE, 20), folder.path, console)  # type: ignore[arg-type]
    assert made_rows(folder.path) is None


def test_sizes_and_times_for_people() -> None:
    assert [in_bytes(size) for size in (0, 999, 1_000, 9_949, 9_951, 123_456_789, 5 * 10**12)] == [
        "0 bytes",
        "999 bytes",
        "1.0 kB",
        "9.9 kB",
        "10 kB",
        "123 MB",
        "5,000 GB",
    ]
    assert [in_time(seconds) for seconds in (0.00049, 0.0041, 0.0123, 0.5, 1.04, 12.6)] == [
        "0.5 ms",
        "4.1 ms",
        "12 ms",
        "500 ms",
        "1.0 s",
        "13 s",
    ]


@pytest.mark.parametrize("is_terminal", [True, False])
def test_words_in_a_terminal_and_records_elsewhere(is_terminal: bool) -> None:
    console = Console(file=io.StringIO(), force_terminal=is_terminal, color_system=None)
    tell(console, "It is [done].", "done", seconds=1)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == ("It is [done].\n" if is_terminal else '{"record": "done", "seconds": 1}\n')
