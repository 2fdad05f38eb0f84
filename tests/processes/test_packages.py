"""The source distribution has what git holds, and the wheel that is made from it works where nothing else of the project is."""

from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_MADE_BY_SETUPTOOLS = {"PKG-INFO", "imp_driver.egg-info"}
_LOOK = """
import json
from importlib.metadata import entry_points, files, metadata, version

import imp_driver

groups = [entry_points(group=group) for group in ("console_scripts", "sqlalchemy.dialects")]
points = [point for group in groups for point in group if point.value.startswith("imp_")]
for point in points:
    point.load()
print(json.dumps({
    "file": imp_driver.__file__,
    "version": [version("imp_driver"), imp_driver.__version__],
    "points": sorted(point.name for point in points),
    "typed": sorted(str(each) for each in files("imp_driver") if each.name == "py.typed"),
    "licence": [metadata("imp_driver")["License-Expression"], metadata("imp_driver")["License-File"]],
    "addresses": metadata("imp_driver").get_all("Project-URL"),
}))
"""


@dataclass(frozen=True, slots=True)
class Packages:
    """``python`` is that of an environment with the wheel; ``held`` are the files of git, relative to the root."""

    held: frozenset[str]
    source: Path
    python: Path

    def run(self, *arguments: str, folder: Path) -> str:
        """Return what a program of the environment printed."""
        command = [str(self.python.parent / arguments[0]), *arguments[1:]]
        ran = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=_variables(), timeout=300, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout of git, which says what belongs into the packages")
    folder = tmp_path_factory.mktemp("packages")
    held = _copy(folder / "project")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist")]
    built = subprocess.run(build, capture_output=True, text=True, cwd=folder / "project", timeout=300, check=False)
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    [wheel], [source] = (folder / "dist").glob("*.whl"), (folder / "dist").glob("*.tar.gz")
    return Packages(held, source, _environment(folder / "environment", wheel))


def _copy(project: Path) -> frozenset[str]:
    """Copy what git holds or would add, so that nothing that lies about is built in."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    held = frozenset(name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file())
    for name in held:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, project / name)
    return held


def _environment(folder: Path, wheel: Path) -> Path:
    """Make an environment of the wheel alone; what the driver depends on is found in that of the tests."""
    venv.create(folder, with_pip=True, symlinks=True)
    python = folder / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--disable-pip-version-check", str(wheel)]
    subprocess.run(install, check=True, cwd=folder, env=_variables(), timeout=300)
    [packages] = folder.glob("lib/python*/site-packages")
    # Lines of .pth files are not followed there, so the editable install of the tests' environment is not.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python


def _variables() -> dict[str, str]:
    """Return the environment variables without the path to these sources."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def test_the_source_distribution_has_all_that_git_holds(packages: Packages) -> None:
    with tarfile.open(packages.source) as archive:
        names = {member.name.split("/", 1)[1] for member in archive if member.isfile()}
    assert {name for name in names if name.split("/")[0] not in _MADE_BY_SETUPTOOLS} == packages.held


def test_an_installed_wheel_is_whole(packages: Packages, tmp_path: Path) -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    version = settings["metadata"]["version"]
    found = json.loads(packages.run("python", "-c", _LOOK, folder=tmp_path))
    assert Path(found.pop("file")).is_relative_to(packages.python.parents[1])
    assert found == {
        "version": [version, version],
        "points": ["imp", "imp", "imp.aio", "imp.connect", "imp.spark"],
        "typed": ["imp_driver/py.typed", "imp_sqlalchemy/py.typed", "imp_superset/py.typed"],
        "licence": ["Apache-2.0", "LICENSE"],
        "addresses": None,
    }
    assert packages.run("imp", "--version", folder=tmp_path) == f"imp_driver {version}\n"


def test_the_quick_start_of_the_readme_runs_from_the_wheel(packages: Packages, tmp_path: Path) -> None:
    program = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]
    assert packages.run("python", "-c", program, folder=tmp_path) == "[(1, 11.5)]\nSTATE\n"
    assert (tmp_path / "warehouse").is_dir()
