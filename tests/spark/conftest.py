"""One warehouse and one JVM for all Spark tests of a run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from pyspark.sql import SparkSession

import imp_driver
from imp_driver.spark import local
from imp_driver.state import returning
from imp_driver.values.options import Options
from tests import jvm

jvm.optimise()


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(scope="session", autouse=True)
def engine(warehouse: Path) -> Iterator[imp_driver.Connection]:
    """A connection that stays open, so that the engine is not shut down between tests."""
    with imp_driver.connect(warehouse=str(warehouse), sketch="off") as connection:
        yield connection


@pytest.fixture(scope="session", autouse=True)
def _captured_at_once() -> Iterator[None]:
    """Tests ask most queries once, and are not to depend on those that came before."""
    with patch.object(returning, "FEWEST", sys.maxsize):
        yield


@pytest.fixture
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    """A cursor in shadow mode; a module that wants another one has its own."""
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", answers="off") as connection:
        yield connection.cursor()


@pytest.fixture(scope="session")
def spark(engine: imp_driver.Connection, warehouse: Path) -> SparkSession:
    """The SparkSession below the embedded engine."""
    return local.open_session(Options(warehouse=str(warehouse))).spark
