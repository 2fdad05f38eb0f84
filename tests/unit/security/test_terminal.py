"""``imp sql`` and ``imp advise``: hostile names and values are shown, and do nothing to the terminal."""

from __future__ import annotations

import io
import unicodedata

import pyarrow as pa
import pytest
from rich.console import Console

from imp_driver.cli import advise
from imp_driver.cli.shell.messages import OnConsole
from imp_driver.cli.shell.outputs import Settings, Tables
from imp_driver.cli.shell.shell import Ended, Shell
from imp_driver.cli.terminal import cell
from imp_driver.dbapi.connection import Connection
from imp_driver.errors import ProgrammingError
from imp_driver.values.plain import plain
from tests.hostile import strings
from tests.unit.dbapi.fakes import FakePipeline, FakeStream

TEXTS = tuple(strings(2_000))
SCREEN = ("\x1b]0;title\x07", "\x1b[2J", "\x9b31m", "[red]x[/red]", "[/]", "[link=file:///etc]x", "a\rb", "\u202egnp.exe")


def console() -> tuple[Console, io.StringIO]:
    written = io.StringIO()
    return Console(file=written, width=200, force_terminal=False), written


def shell(pipeline: FakePipeline, out: Console) -> Shell:
    """Return a shell whose connection is to be closed."""
    return Shell(Connection(pipeline), Tables(out), OnConsole(out, is_script=False), Settings())


def test_nothing_that_a_terminal_obeys_is_left() -> None:
    for text in (*TEXTS, *SCREEN):
        shown = plain(text)
        assert not any(unicodedata.category(each) == "Cc" and each not in "\n\t" for each in shown)
        assert not set(shown) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068")
        assert cell(text).plain == shown
        assert cell(text).spans == []
    assert plain("caf\u00e9\tx\n\U0001f600") == "caf\u00e9\tx\n\U0001f600"
    assert cell(None).plain == "NULL"


@pytest.mark.parametrize("text", SCREEN)
def test_rows_and_names_of_columns(text: str) -> None:
    schema = pa.schema([(text, pa.string())])
    rows = FakeStream(schema, [pa.RecordBatch.from_arrays([pa.array([text])], schema=schema)])
    out, written = console()
    served = shell(FakePipeline(rows), out)
    with served.connection:
        assert served.run("SELECT 1") is Ended.WELL
    assert written.getvalue().count(plain(text)) == 2
    assert not set("\x1b\x9b\x07\r\u202e") & set(written.getvalue())


def test_errors() -> None:
    out, written = console()
    served = shell(FakePipeline(error=ProgrammingError("no column \x1b[2J[/]")), out)
    with served.connection:
        assert served.run("SELECT 1") is Ended.FAILED
    assert "no column \\x1b[2J[/]" in written.getvalue()


def test_advice() -> None:
    numbers = dict.fromkeys(("templates", "executions", "bytes_now", "bytes_then", "saved_bytes"), 1)
    out, written = console()
    for text in SCREEN:
        row = {"table_name": text, "clustering": text, "statement": text, "reason": "", **numbers}
        advise.print_advice([row, {**row, "clustering": None}], out)
    assert not set("\x1b\x9b\x07\r\u202e") & set(written.getvalue())
    assert "[/]" in written.getvalue()
