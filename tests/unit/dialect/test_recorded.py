"""The files of recorded statements are whole, and the docs have their numbers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from imp_driver.reasons import Reason
from tests.recorded.statements import FOLDER, Call, Statement, read, tools, write

DOCS = Path(__file__).parents[3] / "docs" / "sqlalchemy.md"


@pytest.mark.parametrize("tool", tools())
def test_every_statement_has_a_name_of_its_own_and_known_codes(tool: str) -> None:
    statements = read(tool)
    assert len({each.name for each in statements}) == len(statements) > 0
    for each in statements:
        assert each.calls
        assert {*each.expected} <= {reason.name for reason in Reason}
        assert all(call.text.count("?") == len(call.values or ()) for call in each.calls)


@pytest.mark.parametrize("tool", tools())
def test_a_file_is_written_as_it_was_read(tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (FOLDER / f"{tool}.sql").read_text(encoding="utf-8")
    statements = read(tool)
    monkeypatch.setattr("tests.recorded.statements.FOLDER", tmp_path)
    comment = "\n".join(line.removeprefix("-- ") for line in text.split("\n\n", 1)[0].splitlines())
    write(tool, statements, comment)
    assert (tmp_path / f"{tool}.sql").read_text(encoding="utf-8") == text


def test_texts_without_values_are_alternatives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.recorded.statements.FOLDER", tmp_path)
    statement = Statement("tool", "name", ("FILTERED",), (Call("SELECT 1", None), Call("SELECT 2", None)))
    write("tool", [statement], "Nothing.")
    assert read("tool") == [statement]


@pytest.mark.parametrize("tool", tools())
def test_the_docs_have_the_share(tool: str) -> None:
    statements = read(tool)
    reasons = Counter(each.expected[-1] for each in statements if not each.is_used)
    used = sum(each.is_used for each in statements)
    listed = ", ".join(f"`{reason}` {count}" for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])))
    assert f"| {len(statements)} | {used} | {listed} |" in DOCS.read_text(encoding="utf-8")
