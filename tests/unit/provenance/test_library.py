"""The package without dd, and with the slower library alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

from imp_driver.errors import NotSupportedError
from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.library import LibraryName, load


def _without(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)


def test_without_dd_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    _without(monkeypatch, "dd", "dd.cudd", "dd.autoref")
    for name in (None, *LibraryName):
        with pytest.raises(NotSupportedError, match=r"pip install 'imp_driver\[provenance\]'"):
            Diagrams(name)


def test_without_the_compiled_part_the_other_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("dd.cudd", raising=False)
    _without(monkeypatch, "dd.cudd")
    assert load(None, 1_000).node_bytes == load(LibraryName.PYTHON, 1_000).node_bytes
    with pytest.raises(NotSupportedError, match="compiled"):
        load(LibraryName.CUDD, 1_000)


def test_modules_are_imported_without_dd() -> None:
    code = "import sys; sys.modules['dd'] = None; import imp_driver.provenance.absorption, imp_driver.provenance.queries"
    subprocess.run([sys.executable, "-c", code], check=True)
