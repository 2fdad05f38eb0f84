"""``imp load URL GRAPH FILES.. --graph``: files of RDF into a graph, in one commit."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq
from rich.console import Console
from rich.status import Status

import imp_driver
from imp_driver.cli.load_files import existing
from imp_driver.dbapi.connection import Connection
from imp_driver.parse.graphs import read_graph_name
from imp_driver.sparql.files import FORMATS, SCHEMA, format_of, read_batches
from imp_driver.sparql.graph_table import first_text, merge_text
from imp_driver.values.quoting import qualified, quoted_text

_VIEW = "__imp_load"
_MOST_NAMED = 50
_FILE_ROWS = 5_000_000


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Load the files; return 0.

    Raises:
        imp_driver.Error: a file is not there or not of its format, or the table is no graph; nothing was committed then but an empty graph.
    """
    name = read_graph_name(arguments.table)
    paths = [existing(text) for text in arguments.files]
    endings = [arguments.format or format_of(path) for path in paths]
    if arguments.format not in (None, *FORMATS):
        raise imp_driver.ProgrammingError(f"There is no format {arguments.format}; these are {', '.join(FORMATS)}.")
    with TemporaryDirectory(prefix="imp_load_") as folder, imp_driver.connect(arguments.url, sketch="off") as connection:
        connection.execute(f"CREATE GRAPH IF NOT EXISTS {qualified(name)}").close()
        begin = time.perf_counter()
        with console.status("Reading ...") as status:
            read, predicates = _parts(paths, endings, Path(folder), status)
            status.update(f"Writing {read:,} triples into {arguments.table} ...")
            added = _write(connection, name, folder, read, predicates) if read else 0
        seconds = time.perf_counter() - begin
    told = f"{arguments.table}: {added:,} of {read:,} triples are new; {read / seconds:,.0f} a second were loaded."
    console.print(told, highlight=False, markup=False)
    return 0


def _parts(paths: Sequence[Path], endings: Sequence[str], folder: Path, status: Status) -> tuple[int, set[str]]:
    """Write the triples of all files as Parquet; return how many they are, and their predicates."""
    begin, rows = time.perf_counter(), 0
    predicates: set[str] = set()
    batches = (batch for path, ending in zip(paths, endings, strict=True) for batch in read_batches(path, ending))
    for number, batch in enumerate(batches):
        pq.write_table(batch, folder / f"{number:06d}.parquet")
        rows += batch.num_rows
        if len(predicates) <= _MOST_NAMED:
            predicates |= set(batch.column("p").unique().to_pylist())
        status.update(f"{rows:,} triples read, {rows / (time.perf_counter() - begin):,.0f} a second ...")
    return rows, predicates


def _write(connection: Connection, name: tuple[str, ...], folder: str, rows: int, predicates: set[str]) -> int:
    """Write the rows of a folder that the graph does not have, in one commit; return how many they are."""
    connection.execute(f"CREATE OR REPLACE TEMPORARY VIEW {_VIEW} USING parquet OPTIONS (path {quoted_text(folder)})").close()
    different = f"(SELECT DISTINCT {', '.join(SCHEMA.names)} FROM {_VIEW})"
    if _is_empty(connection, name):
        added = _rowcount(connection, first_text(name, different, 1 + rows // _FILE_ROWS))
        if added:
            return added
    return _rowcount(connection, merge_text(name, different, predicates=sorted(predicates), is_only_added=True))


def _is_empty(connection: Connection, name: tuple[str, ...]) -> bool:
    with connection.execute(f"SELECT s FROM {qualified(name)} LIMIT 1") as cursor:
        return cursor.fetchone() is None


def _rowcount(connection: Connection, text: str) -> int:
    with connection.execute(text) as cursor:
        return cursor.rowcount
