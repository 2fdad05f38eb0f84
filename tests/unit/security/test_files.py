"""Files of the driver bear the rights that the user's umask leaves, and nothing that can run code is read back from files."""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from imp_driver.maintain.workload import Record, Workload
from imp_driver.spark import local, packages
from imp_driver.spark.locations import process_umask
from imp_driver.spark.packages import COORDINATES, resolve_jars
from imp_driver.values.options import Options

ROOT = Path(__file__).parents[3]
SOURCES = sorted([*(ROOT / "imp_driver").rglob("*.py"), *(ROOT / "dialect").rglob("*.py")])
CODE_FROM_DATA = {
    "pickle",
    "cPickle",
    "_pickle",
    "cloudpickle",
    "dill",
    "marshal",
    "shelve",
    "joblib",
    "jsonpickle",
    "yaml",
    "copyreg",
    "code",
    "runpy",
}
CALLS = {"eval", "exec", "compile", "__import__", "breakpoint"}
SHELLS = {"system", "popen", "getoutput", "getstatusoutput"}


@pytest.fixture(params=[0o022, 0o077, 0o027], ids=["022", "077", "027"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    mask: int = request.param
    before = os.umask(mask)
    yield mask
    os.umask(before)


def rights(path: Path) -> int:
    return path.stat().st_mode & 0o777


def check(folder: Path, umask: int) -> None:
    every = [folder, *folder.rglob("*")]
    assert {rights(path) for path in every if path.is_dir()} == {0o777 & ~umask}
    assert {rights(path) for path in every if path.is_file()} == {0o666 & ~umask}


def test_the_record_of_queries(tmp_path: Path, umask: int) -> None:
    folder = tmp_path / "house"
    folder.mkdir()
    for _ in range(2):
        workload: Workload[str] = Workload(folder / "workload.jsonl")
        workload.add(Record("t1"))
        workload.write()
    check(folder, umask)
    workload._rewrite(folder / "workload.jsonl")
    check(folder, umask)


def test_a_warehouse_and_its_lock(tmp_path: Path, umask: int) -> None:
    folder = local._folder(str(tmp_path / "house"))
    local._locked(folder).close()
    check(folder, umask)


def test_what_spark_writes_into_it(tmp_path: Path, umask: int) -> None:
    assert process_umask() == umask
    settings = local._settings(tmp_path, (), Options(warehouse=str(tmp_path)), tmp_path)
    assert settings["spark.hadoop.fs.permissions.umask-mode"] == f"{umask:03o}"


def test_the_cache_of_jars(tmp_path: Path, umask: int, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = hashlib.sha256(b"jar").hexdigest()
    monkeypatch.setattr(packages, "COORDINATES", tuple(replace(each, sha256=digest) for each in COORDINATES))
    monkeypatch.setenv("IMP_DRIVER_CACHE", str(tmp_path / "cache"))

    def resolver(java: Path, folder: Path) -> str:
        for coordinate in COORDINATES:
            (folder / coordinate.file_name).write_text("jar")
        return ""

    resolve_jars(Path("java"), resolver)
    check(tmp_path / "cache", umask)


def found(source: str) -> list[str]:
    """Return what runs code that it reads, starts a shell, or reads pickles by another library's option."""
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names if alias.name.split(".")[0] in CODE_FROM_DATA]
        elif isinstance(node, ast.ImportFrom):
            names += [node.module or ""] if (node.module or "").split(".")[0] in CODE_FROM_DATA else []
        elif isinstance(node, ast.Call):
            called = node.func
            names += [called.id] if isinstance(called, ast.Name) and called.id in CALLS else []
            is_member = isinstance(called, ast.Attribute) and called.attr in {
                *SHELLS,
                "read_pickle",
                "to_pickle",
                "pickleFile",
                "saveAsPickleFile",
            }
            names += [ast.unparse(called)] if is_member else []
            options = {word.arg: word.value for word in node.keywords}
            names += [name for name in ("shell", "allow_pickle") if isinstance(options.get(name), ast.Constant) and options[name].value]  # type: ignore[attr-defined]
    return names


@pytest.mark.parametrize("path", SOURCES, ids=[str(path.relative_to(ROOT)) for path in SOURCES])
def test_nothing_is_unpickled_or_evaluated(path: Path) -> None:
    assert found(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "def f():\n    from cloudpickle import loads",
        "import shelve as s",
        "eval(text)",
        "exec(text)",
        "compile(text, 'x', 'exec')",
        "__import__(name)",
        "os.system(text)",
        "subprocess.run(text, shell=True)",
        "numpy.load(file, allow_pickle=True)",
        "pandas.read_pickle(file)",
    ],
)
def test_the_search_finds(source: str) -> None:
    assert found(source) != []


def test_the_search_leaves_others_alone() -> None:
    assert found("import re\nre.compile('x')\nstatement.compile(dialect)\nsubprocess.run([java], shell=False)") == []
