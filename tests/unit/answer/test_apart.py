"""Queries over recursions with what Spark alone computes, without a JVM: the recursions here, what stands above them by the engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest

from imp_driver.answer.recursion import apart
from imp_driver.errors import NotSupportedError
from imp_driver.reasons import ServedBy
from tests.soundness.lake_path import LakePath

REACH = "WITH RECURSIVE reach(x, y) AS (SELECT a, b FROM link UNION SELECT r.x, l.b FROM reach r JOIN link l ON r.y = l.a) "


@pytest.fixture
def path(tmp_path: Path) -> Iterator[LakePath]:
    with closing(LakePath(tmp_path)) as path:
        ends = pa.table({"a": pa.array(range(12), pa.int32()), "b": pa.array([(each * 5 + 1) % 12 for each in range(12)], pa.int32())})
        path.append("link", ends)
        path.append("name", pa.table({"id": pa.array(range(12), pa.int32()), "text": [f"n{each}" for each in range(12)]}))
        yield path


def check(path: LakePath, text: str, served_by: ServedBy = ServedBy.STATE_AND_SPARK) -> None:
    rows, report = path.ask(text)
    assert sorted(rows, key=repr) == sorted(path.plain(text), key=repr)
    assert report.served_by is served_by


@pytest.mark.parametrize(
    "above",
    [
        "SELECT x, hex(y) AS h FROM reach WHERE x < 5",
        "SELECT x, concat_ws('-', x, y) AS h FROM reach WHERE x < 5",
        "SELECT r.x, s.y FROM reach r JOIN reach s ON r.y = s.x WHERE hex(s.y) > '5'",
        "SELECT hex(r.x) AS h, n.text FROM reach r JOIN name n ON n.id = r.y",
        "SELECT hex(r.x) AS h, l.b FROM reach AS r LEFT JOIN link l ON l.a = r.y AND l.b < 5",
        "SELECT /*+ COALESCE(1), BROADCAST(reach), MERGE(link) */ hex(reach.x) AS h, "
        "'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz' AS t, link.b FROM reach JOIN link ON reach.x = link.a",
        "SELECT count(*) AS c FROM name n WHERE hex(n.id) IN (SELECT hex(y) FROM reach WHERE x = 3)",
    ],
)
def test_what_spark_alone_computes_above_a_recursion(path: LakePath, above: str) -> None:
    check(path, REACH + above)
    path.append("link", pa.table({"a": pa.array([3], pa.int32()), "b": pa.array([7], pa.int32())}))
    path.delete("link", "a = 5")
    check(path, REACH + above)


def test_other_common_tables_stay(path: LakePath) -> None:
    text = REACH.rstrip() + ", few AS (SELECT x, hex(y) AS h FROM reach WHERE x > 8) SELECT h, count(*) AS c FROM few GROUP BY h"
    check(path, text)


def test_relations_that_read_each_other(path: LakePath) -> None:
    text = (
        "WITH RECURSIVE odd(x, y) AS (SELECT a, b FROM link UNION SELECT e.x, l.b FROM even e JOIN link l ON e.y = l.a), "
        "even(x, y) AS (SELECT o.x, l.b FROM odd o JOIN link l ON o.y = l.a) SELECT hex(x) AS h, y FROM {}"
    )
    rows, report = path.ask(text.format("even"))
    assert report.served_by is ServedBy.STATE_AND_SPARK
    plain, _ = path.ask(text.format("even").replace("hex(x) AS h", "x"))
    assert sorted(rows) == sorted((f"{x:X}", y) for x, y in plain)


def test_what_a_recursion_itself_does_not_compute_is_refused(path: LakePath) -> None:
    text = "WITH RECURSIVE r(h) AS (SELECT hex(a) FROM link UNION SELECT hex(l.b) FROM r JOIN link l ON r.h = hex(l.a)) SELECT h FROM r"
    with pytest.raises(NotSupportedError, match="UNKNOWN_FUNCTION: hex"):
        path.ask(text)


def test_more_rows_than_are_handed_over_are_refused(path: LakePath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "MOST_BYTES", 10)
    with pytest.raises(NotSupportedError, match="UNKNOWN_FUNCTION: hex"):
        path.ask(REACH + "SELECT hex(y) AS h FROM reach")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("WITH RECURSIVE r(x) AS (SELECT a FROM link UNION SELECT l.b FROM r JOIN link l ON r.x = l.a LIMIT 3) SELECT x FROM r", "LIMIT"),
        ("WITH RECURSIVE r(x) AS (SELECT a FROM link UNION SELECT b FROM link, r EXCEPT SELECT 3) SELECT x FROM r", "EXCEPT"),
        (REACH.rstrip() + ", w(x) AS (SELECT x FROM reach UNION ALL SELECT x + 20 FROM w WHERE x < 9) SELECT x FROM w", "by UNION ALL"),
    ],
)
def test_what_stands_beside_union_is_named(path: LakePath, text: str, why: str) -> None:
    with pytest.raises(NotSupportedError, match=why):
        path.ask(text)
