"""docs/errors.md: what is shown of statements, on one connection. What is refused before Spark is in tests/unit/test_errors_page.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from tests.errors_page import Mistake, mistakes, setup, told_by

SCHEMA = "errors_page"


@pytest.fixture(scope="module")
def names(engine: imp_driver.Connection, warehouse: Path) -> Iterator[dict[str, object]]:
    """What the page's first block makes, in a schema of its own."""
    engine.execute(f"CREATE SCHEMA {SCHEMA}")
    made: dict[str, object] = {"imp_driver": imp_driver}
    exec(_here(setup(), warehouse), made)
    connection = made["connection"]
    assert isinstance(connection, imp_driver.Connection)
    with connection:
        yield made


def _here(code: str, warehouse: Path) -> str:
    """Return code with the warehouse and the schema of the tests in its URLs."""
    code = code.replace("imp:///warehouse?", f"imp:///{warehouse}?schema={SCHEMA}&")
    return code.replace('imp:///warehouse"', f'imp:///{warehouse}?schema={SCHEMA}"')


@pytest.mark.parametrize("mistake", [each for each in mistakes() if each.needs_spark], ids=lambda mistake: mistake.title)
def test_the_page_shows_what_is_told(mistake: Mistake, names: dict[str, object], warehouse: Path) -> None:
    told = told_by(_here(mistake.code, warehouse), names).replace(f".{SCHEMA}.", ".default.")
    assert mistake.is_told_by(told), told
    assert "\tat " not in told
    assert "Exception" not in told
