"""The parser's classes must be ones that can be derived from."""

from __future__ import annotations

from typing import NoReturn

import pytest

import imp_driver
from imp_driver.parse import dialect


class _Compiled:
    def __init__(self) -> NoReturn:
        raise TypeError("interpreted classes cannot inherit from compiled")


def test_a_compiled_parser_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialect, "OrderedPercentile", _Compiled)
    with pytest.raises(imp_driver.NotSupportedError, match="pip uninstall sqlglotc"):
        imp_driver.connect("imp:///nowhere")


def test_the_installed_parser_is_none() -> None:
    dialect.check_installation()
