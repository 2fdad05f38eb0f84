"""What is checked before a session of a Spark Connect server is used: the server's version, and whose folders its paths are."""

from __future__ import annotations

import importlib.util
import socket
from dataclasses import dataclass, field
from typing import Any

import pytest

from imp_driver.errors import CONNECTION_LOST, IntegrityError, InterfaceError, NotSupportedError, OperationalError
from imp_driver.spark import connect
from imp_driver.spark.errors import mapped
from imp_driver.values.options import Options


@dataclass(slots=True)
class FakeClient:
    host: str = "localhost"
    is_closed: bool = False
    calls: list[str] = field(default_factory=list)

    def set_retry_policies(self, policies: list[object]) -> None:
        self.calls.append("policies")

    def release_session(self) -> None:
        self.calls.append("release")
        raise ConnectionError

    def close(self) -> None:
        self.calls.append("close")
        self.is_closed = True


@dataclass(slots=True)
class FakeSpark:
    version: str = "4.2.0"
    is_stopped: bool = False
    client: FakeClient = field(default_factory=FakeClient)


@pytest.mark.parametrize("version", ["3.5.3", "4.0.0", "4.20.0"])
def test_a_server_of_another_version_is_refused(version: str) -> None:
    with pytest.raises(NotSupportedError, match=version.replace(".", r"\.")):
        connect.open_owned(FakeSpark(version=version), Options())


def test_a_stopped_session_is_refused() -> None:
    with pytest.raises(InterfaceError, match="stopped"):
        connect.open_owned(FakeSpark(is_stopped=True), Options())


@pytest.mark.parametrize(
    ("host", "shared", "expected"),
    [
        ("localhost", False, "file:/w/t"),
        ("127.0.0.1", False, "file:/w/t"),
        ("[::1]", False, "file:/w/t"),
        (socket.gethostname(), False, "file:/w/t"),
        ("spark.example", False, "file://spark.example/w/t"),
        ("spark.example", True, "file:/w/t"),
    ],
)
def test_a_folder_of_another_machine_is_named_with_it(host: str, shared: bool, expected: str) -> None:
    on_machine = connect.on_machine_of(FakeSpark(client=FakeClient(host)), Options(server=f"{host}:1", shared_files=shared))
    assert on_machine("/w/t") == expected
    assert on_machine("s3://bucket/t") == "s3://bucket/t"
    assert (on_machine("/w/%41") == "/w/%41") == expected.startswith("file:/w")


def test_the_connection_string_carries_every_character() -> None:
    options = Options(server="h:1", user_id="a;b=c", token="t/+;%", use_ssl=True)
    assert connect.connection_string(options) == "sc://h:1/;user_id=a%3Bb%3Dc;token=t%2F%2B%3B%25;use_ssl=true;user_agent=imp_driver"


def test_the_channel_is_closed_even_where_the_server_is_gone() -> None:
    client = FakeClient()
    connect.end_session(client)
    connect.end_session(client)
    assert client.calls == ["policies", "release", "close"]


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "grpc" else object())
    with pytest.raises(NotSupportedError, match=r"missing \(grpc\): pip install 'imp_driver\[connect\]'"):
        connect.open_session(Options(server="h:1"))


def _error(text: str, status: str = "INTERNAL", condition: str | None = None) -> Exception:
    from pyspark.errors import PySparkException

    class FromServer(PySparkException):  # type: ignore[misc]
        def getCondition(self) -> str | None:  # noqa: N802 - PySpark's name
            return condition

        def getGrpcStatusCode(self) -> Any:  # noqa: N802 - PySpark's name
            return f"StatusCode.{status}"

        def __str__(self) -> str:
            return text

    return FromServer(message=text)


@pytest.mark.parametrize(
    ("error", "is_lost", "words"),
    [
        (_error("<debug dump>", "UNAVAILABLE"), True, "The Spark Connect server does not answer. Check that the host and the port"),
        (_error("<debug dump> ipv4:10.0.0.7:15002: refused", "UNAVAILABLE"), True, "server at 10.0.0.7:15002 does not answer"),
        (_error("<debug dump> ipv6:%5B::1%5D:15002: refused", "UNAVAILABLE"), True, r"server at \[::1\]:15002 does not answer"),
        (_error("<debug dump>", "UNAUTHENTICATED"), False, "does not accept the token"),
        (_error("<debug dump>", "PERMISSION_DENIED"), False, "denies access"),
        (_error("[INVALID_HANDLE.SESSION_CHANGED] x", condition="INVALID_HANDLE.SESSION_CHANGED"), True, "no longer has this session"),
        (_error("[NO_ACTIVE_SESSION] x", condition="NO_ACTIVE_SESSION"), True, "no longer has this session"),
        (_error("Received incorrect server side session identifier for request."), True, "no longer has this session"),
        (ValueError("Cannot invoke RPC on closed channel!"), True, "no longer has this session"),
        (_error("something else"), False, "something else"),
    ],
)
def test_errors_of_a_server(error: Exception, is_lost: bool, words: str) -> None:
    with pytest.raises(OperationalError, match=words) as caught, mapped("tag"):
        raise error
    assert (caught.value.error_class == CONNECTION_LOST) == is_lost
    assert "debug dump" not in str(caught.value)


def test_the_java_class_is_no_part_of_a_message() -> None:
    name = "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
    with pytest.raises(IntegrityError) as caught, mapped():
        raise _error(f"(org.apache.spark.sql.delta.schema.InvariantViolation) [{name}] no", condition=name)
    assert str(caught.value) == f"[{name}] no"
