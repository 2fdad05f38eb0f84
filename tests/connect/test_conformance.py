"""The public conformance class for PEP 249, at a Spark Connect server."""

from __future__ import annotations

import pytest

from tests.connect.server import Server
from tests.spark import test_conformance as embedded

pytestmark = embedded.pytestmark


class TestConformance(embedded.TestConformance):
    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _at_the_engine(cls, server: Server) -> None:
        cls.connect_kw_args = {"server": f"127.0.0.1:{server.port}"}
