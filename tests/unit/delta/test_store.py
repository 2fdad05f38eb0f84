"""Locations and paths as actions, Spark and the operating system spell them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.fs as arrow_fs
import pytest
from deltalake import write_deltalake
from deltalake.fs import DeltaStorageHandler

from imp_driver.delta.commits import read_commits
from imp_driver.delta.files import Piece, PieceReader
from imp_driver.delta.relations import change_feed_relation, files_relation, spark_file_path
from imp_driver.delta.schema import StoredColumn
from imp_driver.delta.store import TableStore, data_path, local_folder, open_store
from imp_driver.delta.tables import DeltaTables
from imp_driver.errors import OperationalError
from imp_driver.values.tables import SchemaColumn


@pytest.mark.parametrize(
    ("location", "folder"),
    [
        ("/a b/%20", "/a b/%20"),
        ("file:/a%20b", "/a b"),
        ("file:///a%2520b/", "/a%20b"),
        ("file://localhost/a", "/a"),
        ("/a:b/c", "/a:b/c"),
        ("s3://bucket/a", None),
        ("abfss://box@account/a", None),
    ],
)
def test_local_folder(location: str, folder: str | None) -> None:
    assert local_folder(location) == folder


def test_a_folder_of_another_machine_is_not_read_here(tmp_path: Path) -> None:
    write_deltalake(str(tmp_path), pa.table({"a": [1]}))
    assert open_store(f"file://localhost{tmp_path}").folder == str(tmp_path)
    for read in (open_store, DeltaTables().snapshot):
        with pytest.raises(OperationalError, match=r"folder of the machine elsewhere.*shared_files=true"):
            read(f"file://elsewhere{tmp_path}")


@pytest.mark.parametrize(
    ("action", "path"),
    [
        ("p=a%20b%252Fc/part-0.parquet", "p=a b%2Fc/part-0.parquet"),
        ("t=2024-01-01 00:00:00/f", "t=2024-01-01 00:00:00/f"),
        ("file:/x/a%20b", "/x/a b"),
        ("s3://bucket/f", None),
    ],
)
def test_data_path(action: str, path: str | None) -> None:
    assert data_path(action) == path


def test_spark_spells_paths_as_java_does() -> None:
    assert spark_file_path("/t é", "p=a b%2F[1]/x#?.parquet") == "file:/t%20é/p=a%20b%252F%5B1%5D/x%23%3F.parquet"
    assert spark_file_path("/t", "/other/f") == "file:/other/f"


def test_relations_quote_names_and_paths() -> None:
    feed = change_feed_relation("/it's\\`x", [SchemaColumn("a`b", "integer", True)], 3, 7)
    assert feed == (
        "(SELECT `a``b`, CAST(CASE WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END AS BIGINT) AS `__imp_weight` "
        "FROM table_changes_by_path('/it\\'s\\\\`x', 4, 7))"
    )
    files = files_relation("/x`y", ["a"], [(2, -1, ["file:/it's"]), (3, 1, ["file:/n"])])
    assert files.count("UNION ALL") == 1
    assert "delta.`/x``y` VERSION AS OF 2 WHERE _metadata.file_path IN ('file:/it\\'s')" in files


def test_a_store_that_is_not_local_is_read_through_delta_rs(tmp_path: Path) -> None:
    write_deltalake(str(tmp_path), pa.table({"a": [1, 2], "p": ["x y", "z"]}), partition_by=["p"])
    remote = TableStore(None, arrow_fs.PyFileSystem(DeltaStorageHandler(str(tmp_path))))
    (commit,) = read_commits(remote, -1, 0)
    columns = [
        StoredColumn(SchemaColumn("a", "long", True), "a", pa.int64(), False),
        StoredColumn(SchemaColumn("p", "string", True), "p", pa.string(), True),
    ]
    read = [PieceReader(remote, columns).read(Piece(file, 1))[0] for file in commit.added]
    assert sorted(pa.concat_tables(read).to_pylist(), key=str) == [{"a": 1, "p": "x y"}, {"a": 2, "p": "z"}]
    assert remote.commit_identity(0) is None
