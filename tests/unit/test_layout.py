"""setup.cfg lists every package, so that an installed driver is whole."""

from __future__ import annotations

import configparser
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_package_is_listed() -> None:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    listed = settings["options"]["packages"].split()
    found = [str(path.parent.relative_to(ROOT)).replace("/", ".") for path in (ROOT / "imp_driver").rglob("__init__.py")]
    found += [str(path.parent.relative_to(ROOT / "dialect")).replace("/", ".") for path in (ROOT / "dialect").rglob("__init__.py")]
    assert sorted(listed) == sorted(found)


def test_nothing_else_lies_at_the_top() -> None:
    known = {"setup.cfg", "pyproject.toml", "imp_driver", "dialect", "tests", "benchmarks", "docs", "examples"}
    known |= {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", ".ci", ".gitignore"}
    # setuptools looks for what belongs into a source distribution nowhere else.
    known |= {"MANIFEST.in"}
    made = {".git", ".venv", ".tox", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "build", "dist"}
    made |= {"demo-warehouse", "demo-result", "quickstart-warehouse"}
    found = {path.name for path in ROOT.iterdir() if not path.name.endswith(".egg-info")}
    assert found - made == known
