"""Tables and store on an object store: a server that speaks S3, started here; delta-rs reads changes and keeps the sketches there."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest

from imp_driver.reasons import Decision, DeltaSource
from tests.faults.lake import Lake, Log, Process
from tests.faults.scenario import JOIN, QUERIES, SUMS, make_tables


class ObjectLake(Lake):
    """The tables r and s in a bucket; its name is that of the folder."""

    def location(self, table: str) -> str:
        return f"s3://{self.folder.name}/{table}"

    def has(self, table: str) -> bool:
        return table in ("r", "s")

    def log(self, table: str) -> Log:
        found = _client().list_objects_v2(Bucket=self.folder.name, Prefix=f"{table}/_delta_log/")["Contents"]
        return tuple((each["Key"], each["ETag"]) for each in found)


@cache
def _client() -> Any:
    return boto3.client("s3")


@pytest.fixture(scope="module")
def server() -> Iterator[None]:
    """Start a server in a process of its own: delta-rs holds Python's lock while it waits for an answer."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    settings = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        try:
            _wait_for(port)
            yield
        finally:
            process.kill()
            process.wait()


def _wait_for(port: int) -> None:
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server did not start")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    make_tables(folder)
    return folder


@pytest.fixture
def lake(server: None, tables: Path, tmp_path: Path) -> ObjectLake:
    found = ObjectLake(Path(f"lake-{tmp_path.name.replace('_', '-').lower()[-40:].strip('-')}"))
    _client().create_bucket(Bucket=found.folder.name)
    for path in filter(Path.is_file, tables.rglob("*")):
        _client().put_object(Bucket=found.folder.name, Key=path.relative_to(tables).as_posix(), Body=path.read_bytes())
    return found


def test_changes_are_read_from_the_object_store(lake: ObjectLake) -> None:
    process = Process(lake)
    assert [process.ask(query).decision for query in QUERIES] == [Decision.CAPTURED] * 3
    lake.insert("r", [(90_000, 3, 500)])
    lake.delete("r", "id = 3005")
    reports = [process.ask(query) for query in QUERIES]
    assert [report.decision for report in reports] == [Decision.MAINTAINED] * 3
    assert {report.delta_source for report in reports} == {DeltaSource.CHANGE_FEED}
    process.close()


def test_sketches_outlive_the_process_in_the_object_store(lake: ObjectLake) -> None:
    first = Process(lake)
    for query in QUERIES:
        first.ask(query)
    first.close()
    lake.insert("s", [(91_000, 3, 1)])
    second = Process(lake)
    assert [second.ask(query).decision for query in (SUMS, JOIN)] == [Decision.FRESH, Decision.MAINTAINED]
    second.close()
