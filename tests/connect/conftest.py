"""One Spark Connect server for all tests of a run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import imp_driver
from tests.connect.server import Server, start_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = start_server(tmp_path_factory.mktemp("server"))
    yield started
    started.stop()


@pytest.fixture
def connection(server: Server) -> Iterator[imp_driver.Connection]:
    """A connection in shadow mode: each answer is compared with the plain one."""
    with imp_driver.connect(f"{server.url}?sketch=shadow") as connection:
        yield connection


@pytest.fixture
def cursor(connection: imp_driver.Connection) -> imp_driver.Cursor:
    return connection.cursor()
