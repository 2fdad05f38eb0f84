"""``imp load URL TABLE FILES.. --cluster-by COLUMN``: files of rows into a Delta table whose files have a range of the column each."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

import imp_driver
from imp_driver.dbapi.connection import Connection
from imp_driver.parse.clustering import (
    Columns,
    clustered_sql,
    files_for,
    found_column,
    read_name,
    statistics_property,
)
from imp_driver.values.quoting import qualified, quoted_text

_FORMATS = {".csv": "csv", ".parquet": "parquet", ".json": "json", ".jsonl": "json", ".ndjson": "json"}
_OPTIONS = {
    # Quotes are doubled inside quotes and may hold line breaks (RFC 4180); a bad row must not come in as NULLs.
    "csv": {"header": "true", "inferSchema": "true", "escape": '"', "multiLine": "true", "enforceSchema": "false", "mode": "FAILFAST"},
    "json": {"mode": "FAILFAST"},
    "parquet": {"mergeSchema": "true"},
}
_EXISTS = ("TABLE_OR_VIEW_ALREADY_EXISTS", "DELTA_TABLE_ALREADY_EXISTS")
_VIEW = "__imp_load"


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Load the files; return 0.

    Raises:
        imp_driver.Error: a file, table or column is not there, or Spark cannot read the rows; nothing was committed then.
    """
    table, column = read_name(arguments.table), read_name(arguments.cluster_by)[0]
    paths = [existing(text) for text in arguments.files]
    chosen = common_format(paths)
    with TemporaryDirectory(prefix="imp_load_") as folder, imp_driver.connect(arguments.url, sketch="off") as connection:
        _link(paths, Path(folder))
        connection.execute(_source_sql(paths, chosen, folder)).close()
        with console.status(f"Loading {len(paths)} file(s) into {arguments.table} ..."):
            number = arguments.number or files_for(sum(path.stat().st_size for path in paths))
            _write(connection, table, column, number, arguments.how)
        [(rows,)] = _rows(connection, f"SELECT count(*) FROM {qualified(table)}")
        files = _detail(connection, table)["numFiles"]
    console.print(
        f"{arguments.table} has {rows:,} rows in {files} files; what was loaded is clustered by {column}.", highlight=False, markup=False
    )
    return 0


def existing(text: str) -> Path:
    """Return the path of a file. Raises ProgrammingError where there is none."""
    path = Path(text).expanduser().absolute()
    if not path.is_file():
        what = "is a folder; name its files" if path.is_dir() else "does not exist"
        raise imp_driver.ProgrammingError(f"The file {text} {what}.")
    return path


def common_format(paths: Sequence[Path]) -> str:
    """Return Spark's name of the format of all files. Raises ProgrammingError when it is unknown or not the same."""
    formats = sorted({_format(path) for path in paths})
    if len(formats) > 1:
        raise imp_driver.ProgrammingError(f"The files must be of one format, not {' and '.join(formats)}.")
    return formats[0]


def _format(path: Path) -> str:
    found = _FORMATS.get(Path(path.name.lower().removesuffix(".gz")).suffix)
    if found is None:
        raise imp_driver.ProgrammingError(f"The file {path.name} is none of {', '.join(_FORMATS)} (text also with .gz).")
    return found


def _link(paths: Sequence[Path], folder: Path) -> None:
    """Show the files to Spark as one folder: in a list of paths some characters of their names would be read as a pattern."""
    for number, path in enumerate(paths):
        name = path.name.lower()
        kind = Path(name.removesuffix(".gz")).suffix + (".gz" if name.endswith(".gz") else "")
        (folder / f"{number:06d}{kind}").symlink_to(path)


def _source_sql(paths: Sequence[Path], chosen: str, folder: str) -> str:
    """Return the statement that makes the files of a folder a temporary view."""
    options = {"path": folder, **_OPTIONS[chosen]}
    if chosen == "json" and any(_is_array(path) for path in paths):
        options["multiLine"] = "true"
    written_options = ", ".join(f"{name} {quoted_text(value)}" for name, value in options.items())
    return f"CREATE OR REPLACE TEMPORARY VIEW {_VIEW} USING {chosen} OPTIONS ({written_options})"


def _is_array(path: Path) -> bool:
    """Say whether a file of JSON is one array of rows instead of a row in each line."""
    with path.open("rb") as file:
        return file.read(1_024).lstrip().startswith(b"[")


def _write(connection: Connection, table: tuple[str, ...], wanted: str, files: int, how: str) -> None:
    columns = _columns(connection, _VIEW)
    column = found_column(columns, wanted)
    rows, name = clustered_sql(_VIEW, column, files), qualified(table)
    if how == "append":
        target = _columns(connection, name)
        statistics = statistics_property(target, found_column(target, wanted), dict(_detail(connection, table)["properties"]))
        if statistics is not None:
            connection.execute(f"ALTER TABLE {name} SET TBLPROPERTIES ({statistics})").close()
        connection.execute(f"INSERT INTO {name} BY NAME {rows}").close()
        return
    statistics = statistics_property(columns, column, {})
    properties = "" if statistics is None else f" TBLPROPERTIES ({statistics})"
    try:
        connection.execute(f"CREATE {'OR REPLACE ' * (how == 'replace')}TABLE {name} USING DELTA{properties} AS {rows}").close()
    except imp_driver.ProgrammingError as error:
        if error.error_class not in _EXISTS:
            raise
        raise imp_driver.ProgrammingError(f"The table {'.'.join(table)} exists; say --replace or --append.") from error


def _columns(connection: Connection, name: str) -> Columns:
    return [(row[0], row[1]) for row in _rows(connection, f"DESCRIBE QUERY SELECT * FROM {name}")]


def _detail(connection: Connection, table: tuple[str, ...]) -> dict[str, Any]:
    with connection.execute(f"DESCRIBE DETAIL {qualified(table)}") as cursor:
        [row] = cursor.fetchall()
        return dict(zip((name for name, *_ in cursor.description or ()), row, strict=True))


def _rows(connection: Connection, text: str) -> list[tuple[Any, ...]]:
    with connection.execute(text) as cursor:
        return cursor.fetchall()
