"""The public conformance class for PEP 249, on an embedded warehouse. Every override says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import dbapi20
import pytest

import imp_driver

# The class leaves connections open in test_rollback and test_ExceptionsAsConnectionAttributes; our warning about it is right.
pytestmark = pytest.mark.filterwarnings("ignore:A connection was not closed:ResourceWarning")


class TestConformance(dbapi20.DatabaseAPI20Test):  # type: ignore[misc]
    driver = imp_driver
    connect_args = ()
    connect_kw_args: ClassVar[dict[str, Any]] = {}

    # Spark has no stored procedures, so there is no function to call; callproc raises NotSupportedError (tests/unit/dbapi).
    lower_func = None

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _at_the_engine(cls, warehouse: Path) -> None:
        cls.connect_kw_args = {"warehouse": str(warehouse)}

    def test_nextset(self) -> None:
        """The class leaves this to the driver: a statement of Spark has one result set at most."""
        with self._connect() as connection, pytest.raises(imp_driver.NotSupportedError):
            connection.cursor().nextset()

    def test_setoutputsize(self) -> None:
        """The class leaves this to the driver: results are streamed, so a size changes nothing, and a long value arrives whole."""
        with self._connect() as connection:
            cursor = connection.cursor()
            cursor.setoutputsize(3)
            assert cursor.execute("SELECT repeat('x', 1000)").fetchone() == ("x" * 1000,)

    def test_non_idempotent_close(self) -> None:
        """PEP 249 asks for no error on a second close, and the class says that reasonable persons differ: ours is harmless."""
        connection = self._connect()
        connection.close()
        connection.close()
        with pytest.raises(imp_driver.InterfaceError):
            connection.cursor()
