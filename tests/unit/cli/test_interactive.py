"""The shell at a terminal: keys go in through a pipe, what is shown comes out of a console without a screen."""

from __future__ import annotations

import io
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput
from rich.console import Console

import imp_driver
from imp_driver.cli.shell import names
from imp_driver.cli.shell.history import PrivateHistory, history_path
from imp_driver.cli.shell.interactive import interact
from imp_driver.cli.shell.messages import OnConsole
from imp_driver.cli.shell.outputs import Settings, Tables
from imp_driver.cli.shell.shell import Shell
from imp_driver.dbapi.connection import Connection
from tests.unit.cli.fakes import connection

CTRL_C, CTRL_D = "\x03", "\x04"


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PipeInput]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


def typed(
    keys: PipeInput,
    text: str,
    answers: dict[str, object] | None = None,
    messages: type[OnConsole] = OnConsole,
    of_names: Callable[[], Connection] = lambda: connection()[0],
) -> tuple[list[str], str]:
    """Return the statements that were run, and what was shown."""
    screen = io.StringIO()
    console = Console(file=screen, width=100)
    opened, warehouse = connection(answers)
    keys.send_text(text)
    with opened:
        interact(Shell(opened, Tables(console), messages(console, is_script=False), Settings()), of_names)
    return warehouse.texts, screen.getvalue()


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        (f"SELECT 1;\r{CTRL_D}", ["SELECT 1"]),
        (f"SELECT\r 1\r;\r{CTRL_D}", ["SELECT\n 1"]),
        (f"SELECT 1; SELECT 2; -- both\r{CTRL_D}", ["SELECT 1", "SELECT 2"]),
        (f"SELECT oops{CTRL_C}SELECT 2;\r{CTRL_D}", ["SELECT 2"]),
        (f"SELECT ';\r';\r{CTRL_D}", ["SELECT ';\n'"]),
        (f"SPARQL ASK {{ ?a ?b 1 ;\r ?c 2 }} ;\r{CTRL_D}", ["SPARQL ASK { ?a ?b 1 ;\n ?c 2 }"]),
        ("SELECT 1;\rexit\rSELECT 2;\r", ["SELECT 1"]),
        ("SELECT 1;\r\\q\r", ["SELECT 1"]),
        ("SELECT 1; quit; SELECT 2;\r", ["SELECT 1"]),
        (f"help\rSELECT 1; help;\r{CTRL_D}", ["SELECT 1"]),
        (f"\r\r  \rSELECT 1;\r{CTRL_D}", ["SELECT 1"]),
    ],
)
def test_keys_become_statements(keys: PipeInput, text: str, statements: list[str]) -> None:
    assert typed(keys, text)[0] == statements


def test_results_and_commands_are_shown(keys: PipeInput) -> None:
    _, shown = typed(keys, f"SELECT * FROM sales;\r\\d\r\\nope\r\\timing off\r{CTRL_D}")
    assert shown.startswith("End a statement with ;")
    for each in (
        "│ Nord   │",
        "3 rows, ",
        "NOT_USED: SKETCH_OFF",
        "│ odd name │ view",
        "There is no command \\nope; \\? lists",
        "not shown",
    ):
        assert each in shown


def test_ctrl_c_cancels_the_statement_and_what_stands_behind_it(keys: PipeInput) -> None:
    statements, shown = typed(keys, f"SLOW; SELECT 1;\rSELECT 2;\r{CTRL_D}", {"SLOW": KeyboardInterrupt()})
    assert statements == ["SLOW", "SELECT 2"]
    assert "Statement 1 of 2: Cancelled.\nThe one behind it was not run.\n" in shown


class Interrupted(OnConsole):
    """Ctrl-C is pressed again, and once more, while an error is told."""

    presses = 2

    def fail(self, text: str) -> None:
        """Tell the third time."""
        if self.presses:
            self.presses -= 1
            raise KeyboardInterrupt
        super().fail(text)


def test_ctrl_c_at_any_moment_is_told_and_the_shell_goes_on(keys: PipeInput) -> None:
    statements, shown = typed(keys, f"SLOW;\rSELECT 2;\r{CTRL_D}", {"SLOW": KeyboardInterrupt()}, Interrupted)
    assert statements == ["SLOW", "SELECT 2"]
    assert shown.count("Cancelled.\n") == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("BAD", "\nProgrammingError: no such thing\n"),
        ("SELECT 1; BAD", "\nStatement 2 of 2: ProgrammingError: no such thing\n"),
        ("BAD; SELECT 1; SELECT 2", "\nStatement 1 of 3: ProgrammingError: no such thing\nThe 2 behind it were not run.\n"),
    ],
)
def test_of_several_statements_the_one_that_failed_is_named(keys: PipeInput, text: str, told: str) -> None:
    _, shown = typed(keys, f"{text};\r{CTRL_D}", {"BAD": imp_driver.ProgrammingError("no such thing")})
    assert shown.endswith(told)


def test_statements_are_run_while_names_are_not_answered(keys: PipeInput, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "_PATIENCE", 0.01)
    is_free, is_over = threading.Event(), threading.Event()

    def opened() -> Connection:
        assert is_free.wait(30)
        is_over.set()
        raise imp_driver.OperationalError("too late")

    assert typed(keys, f"SELECT 1;\rSELECT 2;\r{CTRL_D}", of_names=opened)[0] == ["SELECT 1", "SELECT 2"]
    is_free.set()
    assert is_over.wait(30)


def test_a_file_is_complete_when_the_shell_is_left(keys: PipeInput, tmp_path: Path) -> None:
    typed(keys, f"\\o {tmp_path / 'a.csv'}\rSELECT * FROM sales;\r{CTRL_D}")
    assert (tmp_path / "a.csv").read_bytes() == b"shop,name\r\n1,Nord\r\n2,NULL\r\n,\r\n"


def test_history_is_kept_for_the_user_alone(keys: PipeInput) -> None:
    typed(keys, f"SELECT\r1;\r SELECT 'secret';\r{CTRL_D}")
    path = history_path()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(PrivateHistory(path).load_history_strings()) == ["SELECT\n1;"]


def test_a_history_that_cannot_be_kept_stops_nothing(keys: PipeInput, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where a folder should be")
    assert typed(keys, f"SELECT 1;\r{CTRL_D}")[0] == ["SELECT 1"]
