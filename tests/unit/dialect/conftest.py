"""An engine of SQLAlchemy over a driver that writes down what it is asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from tests.unit.dialect.fakes import FakeDriver


@pytest.fixture
def driver() -> FakeDriver:
    return FakeDriver()


@pytest.fixture
def engine(driver: FakeDriver) -> Iterator[sa.Engine]:
    made = sa.create_engine("imp:///house", module=driver, isolation_level="AUTOCOMMIT")
    yield made
    made.dispose()
