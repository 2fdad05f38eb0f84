"""The public conformance class for PEP 249, at a Spark Connect server."""

from __future__ import annotations

import pytest

from tests.connect.server import Server
from tests.dbapi20 import test_conformance as embedded

pytestmark = embedded.pytestmark


class TestConformance(embedded.TestConformance):
    @classmethod
    def setUpClass(cls) -> None:
        """The embedded class makes a warehouse here; the server has one."""

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _at_the_server(cls, server: Server) -> None:
        cls.connect_kw_args = {"server": f"127.0.0.1:{server.port}"}
