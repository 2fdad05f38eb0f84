"""What is checked before a JVM starts: Java, and the jars in the driver's cache. No JVM runs here."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from imp_driver.errors import OperationalError
from imp_driver.spark import packages
from imp_driver.spark.java import explain_failed_start, find_java
from imp_driver.spark.packages import COORDINATES, resolve_jars


def _fake_java(folder: Path, version: str, modules: str) -> Path:
    """A program that answers like java, so that the diagnosis has something to ask."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    answers = f'-version) echo \'openjdk version "{version}"\' >&2;;\n--list-modules) echo "{modules}";;'
    java.write_text(f'#!/bin/sh\ncase "$1" in\n{answers}\nesac\n')
    java.chmod(0o755)
    return java


def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = _fake_java(tmp_path, "17.0.1", "java.base")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java() == java
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(java.parent))
    assert find_java() == java
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OperationalError, match="no java on PATH"):
        find_java()


@pytest.mark.parametrize(
    ("version", "modules", "words"),
    [
        ("11.0.2", "jdk.incubator.vector@11", "is version 11"),
        ("1.8.0_392", "", "is version 8"),
        ("25.0.2", "java.base@25", "jdk.incubator.vector"),
        ("17.0.1", "jdk.incubator.vector@17", "last words: out of memory"),
    ],
)
def test_failed_start_is_explained(tmp_path: Path, version: str, modules: str, words: str) -> None:
    error = explain_failed_start(_fake_java(tmp_path, version, modules), "first\nout of memory\n\n")
    assert words in str(error)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache; the jars of these tests have the content ``jar``."""
    digest = hashlib.sha256(b"jar").hexdigest()
    monkeypatch.setattr(packages, "COORDINATES", tuple(replace(each, sha256=digest) for each in COORDINATES))
    monkeypatch.setenv("IMP_DRIVER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_jars_are_fetched_once(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[Path] = []

    def resolver(java: Path, folder: Path) -> str:
        asked.append(java)
        for coordinate in COORDINATES:
            (folder / coordinate.file_name).write_text("jar")
        return ""

    first = resolve_jars(Path("java"), resolver)
    assert resolve_jars(Path("java"), resolver) == first
    assert asked == [Path("java")]
    assert all(jar.is_file() for jar in first)
    assert [path.name for path in cache.iterdir()] == [first[0].parent.name]
    assert "fetching" in capsys.readouterr().err


def test_a_failed_fetch_names_what_is_missing_and_leaves_nothing(cache: Path) -> None:
    def resolver(java: Path, folder: Path) -> str:
        (folder / COORDINATES[0].file_name).write_text("jar")
        return "some log\nserver access error: connection refused\n"

    with pytest.raises(OperationalError) as caught:
        resolve_jars(Path("java"), resolver)
    assert str(COORDINATES[1]) in str(caught.value)
    assert str(COORDINATES[0]) not in str(caught.value)
    assert "connection refused" in str(caught.value)
    assert list(cache.iterdir()) == []


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("IMP_DRIVER_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(OperationalError, match="IMP_DRIVER_CACHE"):
        resolve_jars(Path("java"), lambda java, target: "")


def test_a_jar_that_was_changed_is_fetched_again(cache: Path) -> None:
    asked: list[Path] = []

    def resolver(java: Path, folder: Path) -> str:
        asked.append(folder)
        for coordinate in COORDINATES:
            (folder / coordinate.file_name).write_text("jar")
        return ""

    jars = resolve_jars(Path("java"), resolver)
    jars[1].write_text("another jar")
    assert resolve_jars(Path("java"), resolver) == jars
    assert len(asked) == 2
    assert jars[1].read_text() == "jar"


def test_another_file_than_the_one_meant_is_not_used(cache: Path) -> None:
    def resolver(java: Path, folder: Path) -> str:
        for coordinate in COORDINATES:
            (folder / coordinate.file_name).write_text("other")
        return ""

    with pytest.raises(OperationalError, match="SHA-256"):
        resolve_jars(Path("java"), resolver)
    assert list(cache.iterdir()) == []


def test_every_jar_has_a_digest() -> None:
    assert all(len(bytes.fromhex(each.sha256)) == 32 for each in COORDINATES)
    assert len({each.sha256 for each in COORDINATES}) == len(COORDINATES)
