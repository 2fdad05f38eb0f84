"""A JVM that is gone while its error is read still gives an error of this driver."""

from __future__ import annotations

from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from imp_driver.errors import OperationalError
from imp_driver.spark.errors import mapped


class _Gone:
    """A Java exception behind a closed connection."""

    _target_id = "o1"

    def __getattr__(self, name: str) -> Any:
        raise ConnectionRefusedError(111, "Connection refused")


class _JavaError(Py4JJavaError):  # type: ignore[misc]
    def __init__(self) -> None:
        self.java_exception = _Gone()


def test_the_jvm_ends_while_its_error_is_read() -> None:
    with pytest.raises(OperationalError, match="JVM ended"), mapped("tag"):
        raise _JavaError
