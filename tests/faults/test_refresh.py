"""kill -9 at every step of refreshing a materialized view; each version of its table has the rows of the query at some moment."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from imp_driver.reasons import ServedBy
from tests.faults.lake import Lake
from tests.faults.refreshing import POINTS, TEXT, VIEW, Refreshing
from tests.forks import PATIENT

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, int]]:
    tables = tmp_path_factory.mktemp("tables")
    lake = Lake(tables)
    lake.create("r")
    rows = lake.query(TEXT).cast(pa.schema([("g", pa.int32()), ("f", pa.int64())]))
    write_deltalake(lake.location(VIEW), rows, configuration={"delta.enableChangeDataFeed": "true"})
    places = [tmp_path_factory.mktemp("lake") for _ in POINTS]
    command = [sys.executable, "-m", "tests.faults.refreshing", *map(str, (tables, *places))]
    ran = subprocess.run(command, cwd=ROOT, timeout=PATIENT * len(POINTS), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return list(zip(places, json.loads(ran.stdout), strict=True))


def _bag(rows: pa.Table) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in rows.to_pylist())


@pytest.mark.parametrize("number", range(len(POINTS)), ids=[str(point).replace(" ", "-") for point in POINTS])
def test_after_a_kill(killed: list[tuple[Path, int]], number: int) -> None:
    folder, code = killed[number]
    assert code == -signal.SIGKILL, "the point was not reached, or the life failed before it"
    process = Refreshing.at(folder)
    before = process.lake.version(VIEW)
    process.refresh()
    assert process.refresh() is ServedBy.STATE
    # What was whole is not written again.
    assert process.lake.version(VIEW) <= before + 1
    assert _bag(process.lake.query(f"SELECT g, f FROM {VIEW}")) == _bag(process.lake.query(TEXT))
    moments = [
        _bag(process.lake.query(TEXT.replace("FROM r", f"FROM r VERSION AS OF {each}"))) for each in range(process.lake.version("r") + 1)
    ]
    for version in range(process.lake.version(VIEW) + 1):
        assert _bag(process.lake.query(f"SELECT g, f FROM {VIEW} VERSION AS OF {version}")) in moments
