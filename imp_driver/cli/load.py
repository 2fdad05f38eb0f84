"""``imp load URL TABLE FILES..``: files of rows into a Delta table, by ``--cluster-by COLUMN`` with a range of it in each file."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

from rich.console import Console

import imp_driver
from imp_driver.cli.bad_rows import check_headers, first_bad_row
from imp_driver.cli.leftovers import without_leftovers
from imp_driver.cli.load_files import VIEW, SourceFile, common_format, link, source_files, source_sql
from imp_driver.cli.load_progress import Progress, Written, rate
from imp_driver.cli.load_text import check_text
from imp_driver.cli.load_types import MAPPING, check_fit, mapped_columns, misfit_query, misfits
from imp_driver.cli.records import counted, in_bytes, in_time, spinner
from imp_driver.cli.warehouse import folder_of
from imp_driver.dbapi.connection import Connection
from imp_driver.parse.clustering import Columns, clustered_sql, files_for, found_column, read_name, statistics_property
from imp_driver.url import options_from_url
from imp_driver.values.quoting import qualified

_EXISTS = ("TABLE_OR_VIEW_ALREADY_EXISTS", "DELTA_TABLE_ALREADY_EXISTS")
_TABS = {"tab": "\t", "\\t": "\t"}
_NOT_THERE = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND")


@dataclass(frozen=True, slots=True)
class Load:
    """What is to be loaded and where to. ``target`` are the columns of the table that is there, None where there is none."""

    table: tuple[str, ...]
    files: Sequence[SourceFile]
    source: Columns
    target: Columns | None
    column: str | None
    number: int
    how: str

    @property
    def name(self) -> str:
        return ".".join(self.table)

    @property
    def mapped(self) -> list[str]:
        """Return the columns that the table has only by mapping names; none where it is there and stays."""
        return [] if self.how == "append" and self.target is not None else mapped_columns(self.source)

    def properties_sql(self) -> str:
        """Return the clause of a new table's properties; empty where it has none."""
        statistics = None if self.column is None else statistics_property(self.source, self.column, {})
        properties = [each for each in (MAPPING if self.mapped else None, statistics) if each is not None]
        return f" TBLPROPERTIES ({', '.join(properties)})" if properties else ""

    def rows_sql(self) -> str:
        """Return the SELECT of all rows, in the files that they are to be in."""
        if self.column is not None:
            return clustered_sql(VIEW, self.column, self.number)
        # The order of the files often has a meaning, such as days: it stays where nothing has to be cut.
        hint = "COALESCE" if self.number <= len(self.files) else "REPARTITION"
        return f"SELECT /*+ {hint}({self.number}) */ * FROM {VIEW}"


def run(arguments: argparse.Namespace, console: Console) -> int:
    """Load the files, or say with ``--dry-run`` what would be done; return 0.

    Raises:
        imp_driver.Error: a file, table or column is not there or does not fit, or Spark cannot read the rows; nothing was committed then.
    """
    table = read_name(arguments.table)
    files = source_files(arguments.files)
    paths = [file.path for file in files]
    chosen = common_format(paths)
    separator = _separator(arguments.separator, chosen)
    if chosen != "parquet":
        check_text(paths)
    if chosen == "csv":
        check_headers(paths, separator, is_given=arguments.separator is not None)
    with TemporaryDirectory(prefix="imp_load_") as folder, _connected(arguments, folder) as connection:
        linked = Path(folder) / "files"
        linked.mkdir()
        link(files, linked)
        try:
            with spinner(console, f"Reading the columns of {_files(len(paths))} ..."):
                target = _target(connection, table, arguments.how)
                connection.execute(source_sql(paths, chosen, str(linked), separator)).close()
                load = _planned(arguments, table, files, target, _columns(connection, VIEW))
            _tell_plan(load, console)
            if arguments.dry_run:
                console.print("Nothing was written (--dry-run).")
                return 0
            _load(connection, load, arguments.url, console)
        except imp_driver.Error as error:
            if _is_about_rows(error) and (bad := first_bad_row(paths, chosen, separator)) is not None:
                raise imp_driver.DataError(f"A row cannot be read, and nothing was loaded: {bad}") from error
            raise
    return 0


def _separator(given: str | None, chosen: str) -> str:
    """Return the character between the values of a row of CSV. Raises ProgrammingError."""
    if given is None:
        return ","
    if chosen != "csv":
        raise imp_driver.ProgrammingError(f"--separator is about files of CSV, and these are {chosen}.")
    separator = _TABS.get(given.lower(), given)
    if len(separator) != 1 or separator in '"\r\n':
        raise imp_driver.ProgrammingError(f"--separator takes one character (no quote or line break) or the word tab, not {given!r}.")
    return separator


def _connected(arguments: argparse.Namespace, folder: str) -> Connection:
    """Connect; a dry run makes no warehouse where there is none."""
    if arguments.dry_run and options_from_url(arguments.url).warehouse is not None:
        try:
            folder_of(arguments.url)
        except imp_driver.OperationalError:
            return imp_driver.connect(warehouse=f"{folder}/warehouse", sketch="off")
    return imp_driver.connect(arguments.url, sketch="off")


def _target(connection: Connection, table: tuple[str, ...], how: str) -> Columns | None:
    try:
        target = _columns(connection, qualified(table))
    except imp_driver.ProgrammingError as error:
        if error.error_class not in _NOT_THERE:
            raise
        target = None
    name = ".".join(table)
    if target is None and how == "append":
        raise imp_driver.ProgrammingError(f"There is no table {name} to append to; without --append it is made.")
    if target is not None and how == "create":
        raise _exists(name)
    return target


def _exists(name: str) -> imp_driver.ProgrammingError:
    return imp_driver.ProgrammingError(f"The table {name} exists; say --replace or --append.")


def _planned(
    arguments: argparse.Namespace, table: tuple[str, ...], files: Sequence[SourceFile], target: Columns | None, source: Columns
) -> Load:
    if not source:
        raise imp_driver.DataError("The files have no columns.")
    wanted = arguments.cluster_by
    column = None if wanted is None else found_column(source, read_name(wanted)[0])
    if target is not None and arguments.how == "append":
        check_fit(source, target, ".".join(table))
    number = arguments.number or files_for(sum(file.path.stat().st_size for file in files))
    return Load(table, files, source, target, column, number, arguments.how)


def _tell_plan(load: Load, console: Console) -> None:
    size = in_bytes(sum(file.path.stat().st_size for file in load.files))
    of_folders = {name.lower() for file in load.files for name in file.columns}
    width = max((len(name) for name, _ in load.source), default=0)
    lines = [f"{_files(len(load.files))} ({size}) with the columns"]
    lines += [f"  {name:{width}}  {kind}{' (of folders)' if name.lower() in of_folders else ''}" for name, kind in load.source]
    what = {"create": "a new table", "replace": "in the place of what is there", "append": "added to what is there"}[load.how]
    order = f", each with a range of {load.column}" if load.column and load.number > 1 else ""
    lines.append(f"into {load.name}, {what}: {_files(load.number)}{order}.")
    if load.mapped:
        names = ", ".join(map(repr, load.mapped))
        lines.append(f"The table has column mapping ({MAPPING}), which Delta needs for the names of {names}.")
    console.print(*lines, sep="\n", highlight=False, markup=False, soft_wrap=True)


def _load(connection: Connection, load: Load, url: str, console: Console) -> None:
    begin = time.perf_counter()
    folder = _folder(connection, load, url)
    with Progress(console, f"Writing {_files(load.number)} ...", Written(folder)), without_leftovers(folder):
        rows = _write(connection, load)
    [(total,)] = _rows(connection, f"SELECT count(*) FROM {qualified(load.table)}")
    seconds, loaded = time.perf_counter() - begin, total if rows is None else rows
    how_fast = rate(loaded, seconds)
    lines = [f"Loaded {counted(loaded, 'row', 'rows')} in {in_time(seconds)}{'' if how_fast is None else f' ({how_fast})'}."]
    files = _detail(connection, load.table)["numFiles"]
    clustered = "" if load.column is None else f"; what was loaded is clustered by {load.column}"
    lines.append(f"{load.name} has {counted(total, 'row', 'rows')} in {_files(files)}{clustered}.")
    if load.column is None and load.number > 1:
        lines.append(
            "Nothing is clustered: a query reads all files. With --cluster-by COLUMN (one that queries group by or filter on) each file "
            "has a range of the column, and queries that need few values of it read few files."
        )
    console.print(*lines, sep="\n", highlight=False, markup=False, soft_wrap=True)


def _write(connection: Connection, load: Load) -> int | None:
    """Write the rows; return how many were added to a table, None for a new one."""
    rows, name = load.rows_sql(), qualified(load.table)
    if load.how == "append" and load.target is not None:
        properties = dict(_detail(connection, load.table)["properties"])
        column = None if load.column is None else found_column(load.target, load.column)
        statistics = None if column is None else statistics_property(load.target, column, properties)
        if statistics is not None:
            connection.execute(f"ALTER TABLE {name} SET TBLPROPERTIES ({statistics})").close()
        return _appended(connection, load, load.target)
    begin = f"CREATE {'OR REPLACE ' * (load.how == 'replace')}TABLE {name} USING DELTA{load.properties_sql()}"
    try:
        connection.execute(f"{begin} AS {rows}").close()
    except imp_driver.ProgrammingError as error:
        if error.error_class not in _EXISTS:
            raise
        raise _exists(load.name) from error
    return None


def _appended(connection: Connection, load: Load, target: Columns) -> int:
    try:
        with connection.execute(f"INSERT INTO {qualified(load.table)} BY NAME {load.rows_sql()}") as cursor:
            return cursor.rowcount
    except imp_driver.Error as error:
        asked = misfit_query(load.source, target, VIEW) if _is_about_types(error) else None
        told = None if asked is None else misfits(asked[0], _rows(connection, asked[1])[0])
        if told is None:
            raise
        raise imp_driver.DataError(f"The files do not fit the table {load.name}, and nothing was loaded: {told}.") from error


def _folder(connection: Connection, load: Load, url: str) -> Path | None:
    """Return where the table's files are or will be; None where that is no folder of this machine, or not known."""
    if load.target is not None:
        place = urlsplit(str(_detail(connection, load.table)["location"]))
        return Path(unquote(place.path)) if place.scheme in ("", "file") else None
    warehouse = folder_of(url)
    return None if warehouse is None or len(load.table) > 1 else warehouse / load.table[0].lower()


def _is_about_rows(error: imp_driver.Error) -> bool:
    """Say whether it may be. What its parser of JSON says of a row Spark gives on without a class."""
    is_unnamed = error.error_class is None and error.__cause__ is not None and not isinstance(error.__cause__, imp_driver.Error)
    return is_unnamed or (error.error_class or "").startswith(("MALFORMED_", "FAILED_READ_FILE", "UNABLE_TO_INFER", "CANNOT_PARSE"))


def _is_about_types(error: imp_driver.Error) -> bool:
    return any(word in (error.error_class or "") for word in ("CAST_", "OUT_OF_RANGE", "OVERFLOW", "CANNOT_PARSE"))


def _files(number: int) -> str:
    return counted(number, "file", "files")


def _columns(connection: Connection, name: str) -> Columns:
    return [(row[0], row[1]) for row in _rows(connection, f"DESCRIBE QUERY SELECT * FROM {name}")]


def _detail(connection: Connection, table: tuple[str, ...]) -> dict[str, Any]:
    with connection.execute(f"DESCRIBE DETAIL {qualified(table)}") as cursor:
        [row] = cursor.fetchall()
        return dict(zip((name for name, *_ in cursor.description or ()), row, strict=True))


def _rows(connection: Connection, text: str) -> list[tuple[Any, ...]]:
    with connection.execute(text) as cursor:
        return cursor.fetchall()
