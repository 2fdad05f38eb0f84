"""Buckets that are read and changed in this process, beside an engine that does the rest."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from imp_driver.persist import near_buckets
from imp_driver.persist.near_buckets import NearBuckets
from imp_driver.values.buckets import BUCKET, BUCKET_ROW, BUCKET_SUMMARY, BucketKernel
from tests.faults.lake_buckets import LakeBuckets


class Appending:
    """A kernel whose groups are bytes, to which a step adds others."""

    def built(self, groups: pa.Table) -> pa.Table:
        return _row(groups.column(BUCKET)[0].as_py(), groups.column("data")[0].as_py())

    def stepped(self, before: pa.Table, delta: pa.Table) -> pa.Table:
        former = before.column("data")[0].as_py() if len(before) else b""
        return _row(delta.column(BUCKET)[0].as_py(), former + b"".join(delta.column("data").to_pylist()))

    def asked(self, before: pa.Table) -> pa.Table:
        return _row(before.column(BUCKET)[0].as_py(), before.column("data")[0].as_py()).select(BUCKET_SUMMARY.names)


def _row(number: int, data: bytes) -> pa.Table:
    return pa.table([[value] for value in (number, data, "sum", len(data), 0, b"", b"", None)], schema=BUCKET_ROW)


def _delta(**data: bytes) -> pa.Table:
    return pa.table({BUCKET: pa.array([int(name[1:]) for name in data], pa.int32()), "data": pa.array(list(data.values()), pa.binary())})


@dataclass(slots=True)
class Counting:
    """An engine over folders that counts what it is asked for."""

    engine: LakeBuckets
    calls: list[str] = field(default_factory=list)

    def build(self, target: str, query: str, kernel: BucketKernel) -> tuple[int, pa.Table]:
        self.calls.append("build")
        return self.engine.build(target, query, kernel)

    def step(self, target: str, version: int, delta: pa.Table, kernel: BucketKernel) -> tuple[int, pa.Table]:
        self.calls.append("step")
        return self.engine.step(target, version, delta, kernel)

    def ask(self, target: str, version: int, kernel: BucketKernel) -> pa.Table:
        self.calls.append("ask")
        return self.engine.ask(target, version, kernel)

    def summary(self, target: str, version: int) -> pa.Table:
        self.calls.append("summary")
        return self.engine.summary(target, version)

    def fetch(self, target: str, version: int, number: int) -> pa.Table:
        self.calls.append("fetch")
        return self.engine.fetch(target, version, number)


@pytest.fixture
def engine() -> Counting:
    return Counting(LakeBuckets(lambda query: _delta(b0=b"a", b1=b"b", b2=b"c")))


@pytest.fixture
def target(tmp_path: Path, engine: Counting) -> str:
    target = str(tmp_path / "state")
    NearBuckets(engine).build(target, "groups", Appending())
    engine.calls.clear()
    return target


def _data(buckets: NearBuckets, target: str, version: int) -> list[bytes | None]:
    found = [buckets.fetch(target, version, number) for number in range(4)]
    return [each.column("data")[0].as_py() if len(each) else None for each in found]


def test_a_step_replaces_its_buckets_alone_and_leaves_former_versions(engine: Counting, target: str) -> None:
    buckets = NearBuckets(engine)
    version, summary = buckets.step(target, 0, _delta(b1=b"x", b3=b"y"), Appending())
    assert (version, summary.column(BUCKET).to_pylist(), summary.column("groups").to_pylist()) == (1, [1, 3], [2, 1])
    assert _data(buckets, target, 1) == [b"a", b"bx", b"c", b"y"]
    assert _data(buckets, target, 0) == [b"a", b"b", b"c", None]
    assert sorted(buckets.summary(target, 1).select([BUCKET, "groups"]).to_pylist(), key=str)[1] == {BUCKET: 1, "groups": 2}
    assert engine.calls == []


@pytest.mark.parametrize(("name", "most"), [("MOST_TOUCHED", 1), ("MOST_BYTES", 3)])
def test_many_or_large_buckets_are_the_engines(
    engine: Counting, target: str, name: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near_buckets, name, most)
    buckets = NearBuckets(engine)
    version, _ = buckets.step(target, 0, _delta(b1=b"x", b2=b"z"), Appending())
    assert (version, _data(buckets, target, 1), engine.calls) == (1, [b"a", b"bx", b"cz", None], ["step"])


def test_what_another_process_has_committed_shows_in_the_version(engine: Counting, target: str) -> None:
    NearBuckets(Counting(engine.engine)).step(target, 0, _delta(b0=b"?"), Appending())
    version, _ = NearBuckets(engine).step(target, 0, _delta(b1=b"x"), Appending())
    assert (version, DeltaTable(target).version()) == (2, 2)


def test_a_table_that_is_not_here_is_the_engines(engine: Counting, target: str) -> None:
    buckets = NearBuckets(engine)
    with pytest.raises(Exception, match="cannot be read"):
        buckets.fetch(f"{target}/elsewhere", 0, 1)
    assert engine.calls == ["fetch"]
    assert len(buckets.ask(target, 0, Appending())) == 3
