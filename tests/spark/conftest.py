"""One warehouse and one JVM for all Spark tests of a run, which has the core each day and half of the other modules, others each day."""

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
from tests.seeds import of_today

FOLDER = Path(__file__).parent
EVERY_DAY = {
    "test_answers",
    "test_changes",
    "test_graphs",
    "test_incremental_views",
    "test_main_job",
    "test_materialized_views",
    "test_recursion",
    "test_session",
    "test_sparql",
    "test_versions",
    "test_what_if",
}
"""What a change is most likely to break."""

jvm.optimise()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave modules out that are not those of today; whoever names a module or a test has it run."""
    if config.option.keyword or any(Path(argument.split("::")[0]).suffix == ".py" for argument in config.args):
        return
    modules = {item.path.stem for item in items if item.path.parent == FOLDER}
    chosen = EVERY_DAY.union(of_today(sorted(modules - EVERY_DAY)))
    left_out = [item for item in items if item.path.parent == FOLDER and item.path.stem not in chosen]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


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
