"""docs/errors.md: what is shown before Spark is asked. The other mistakes are in tests/spark/test_errors_page.py."""

from __future__ import annotations

import fcntl
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import pytest

from imp_driver.cli.main import main
from imp_driver.spark import connect
from tests.errors_page import Mistake, mistakes, setup, told_by

HERE = [mistake for mistake in mistakes() if not mistake.needs_spark]


@contextmanager
def _in_use(patch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = Path("warehouse") / "_imp"
    folder.mkdir(parents=True)
    with (folder / "lock").open("w+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write("4711")
        file.flush()
        yield


def _without_java(patch: pytest.MonkeyPatch) -> AbstractContextManager[None]:
    patch.delenv("JAVA_HOME", raising=False)
    patch.setenv("PATH", "")
    return nullcontext()


def _at_once(patch: pytest.MonkeyPatch) -> AbstractContextManager[None]:
    patch.setattr(connect, "RETRIES", 0)
    return nullcontext()


def _without_parser(patch: pytest.MonkeyPatch) -> AbstractContextManager[None]:
    patch.setitem(sys.modules, "rdflib.plugins.sparql", None)
    return nullcontext()


def _as_they_are(patch: pytest.MonkeyPatch) -> AbstractContextManager[None]:
    return nullcontext()


SURROUNDINGS: dict[str, Callable[[pytest.MonkeyPatch], AbstractContextManager[None]]] = {
    "Another process has the warehouse": _in_use,
    "No Java": _without_java,
    "A server that does not answer": _at_once,
    "A package that is not installed": _without_parser,
}
"""What is wrong around the code of some mistakes, by their titles."""


@pytest.mark.parametrize("mistake", HERE, ids=lambda mistake: mistake.title)
def test_the_page_shows_what_is_told(
    mistake: Mistake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with SURROUNDINGS.get(mistake.title, _as_they_are)(monkeypatch):
        if mistake.language == "sh":
            assert main(shlex.split(mistake.code)[1:]) == 1
            told = capsys.readouterr().err
            assert list(tmp_path.iterdir()) == []
        else:
            told = told_by(mistake.code, {})
    assert mistake.is_told_by(told), told


def test_the_page_has_the_mistakes_that_the_tests_know() -> None:
    every = mistakes()
    assert len(every) >= 20
    assert SURROUNDINGS.keys() <= {mistake.title for mistake in HERE}
    assert "imp_driver.connect" in setup()


def test_a_page_that_shows_something_else_is_noticed() -> None:
    mistake = Mistake("x", "python", "", "Error: no folder ../a.\nWrite SELECT ..")
    assert mistake.is_told_by("Error: no folder /tmp/a. Write SELECT 1")
    assert not mistake.is_told_by("Error: no folder /tmp/b. Write SELECT 1")
    assert not mistake.is_told_by("Error: no folder /tmp/a.")
