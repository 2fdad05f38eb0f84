"""SQL that writes rows clustered by a column: files with a range of values each, sorted within.

A file's minimum and maximum then say little enough that a sketch skips most files. The column needs them, and by default Delta keeps
statistics of the first 32 columns alone.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.values.quoting import quoted_name, quoted_text

_ENOUGH_FILES = 64
_SMALL_FILE, _LARGE_FILE = 1 << 20, 64 << 20
"""Bytes. Reading a smaller file costs about what opening it does, so that skipping it saves nothing."""
STATISTICS_COLUMNS = "delta.dataSkippingStatsColumns"
_INDEXED_COLUMNS = "delta.dataSkippingNumIndexedCols"
_DEFAULT_INDEXED = 32
_WITH_BOUNDS = re.compile(
    r"(tinyint|smallint|int|bigint|float|double|decimal\(\d+,-?\d+\)|string|char\(\d+\)|varchar\(\d+\)|date|timestamp|timestamp_ntz)"
)
"""Types of columns that Delta keeps a minimum and maximum of, as Spark names them."""
_PART = r"(?:`(?:[^`]|``)+`|\w+)"
_NAME = rf"{_PART}(?:\s*\.\s*{_PART})*"
_CLUSTERING = re.compile(rf"({_NAME})\s+BY\s+({_PART}|\(\s*{_PART}\s*\))(?:\s+FILES\s+(\d+))?", re.IGNORECASE)
_FORM = "CLUSTER SKETCH TABLE table BY column [FILES number]"

Columns = Sequence[tuple[str, str]]
"""Names and Spark's types, in the order of the table."""


@dataclass(frozen=True, slots=True)
class Clustering:
    """What ``CLUSTER SKETCH TABLE`` asks for; ``table`` are unquoted name parts, ``files`` None leaves their number to the size."""

    table: tuple[str, ...]
    column: str
    files: int | None


def read_clustering(argument: str) -> Clustering:
    """Read what follows ``CLUSTER SKETCH TABLE``. Raises ProgrammingError."""
    match = _CLUSTERING.fullmatch(argument.strip())
    files = None if match is None or match[3] is None else int(match[3])
    if match is None or files == 0:
        raise ProgrammingError(f"Cannot read {argument.strip()!r}: expected {_FORM}, with one column and at least one file.")
    return Clustering(read_name(match[1]), read_name(match[2].strip("() \t\r\n"))[0], files)


def read_name(text: str) -> tuple[str, ...]:
    """Return the unquoted parts of a name. Raises ProgrammingError."""
    if re.fullmatch(_NAME, text.strip()) is None:
        raise ProgrammingError(f"{text!r} is no name of a table or column; characters other than letters, digits and _ need backticks.")
    return tuple(part[1:-1].replace("``", "`") if part.startswith("`") else part for part in re.findall(_PART, text))


def clustered_sql(relation: str, column: str, files: int) -> str:
    """Return a SELECT of all rows of a relation, one task for each of so many ranges of the column, sorted."""
    name = quoted_name(column)
    return f"SELECT * FROM (SELECT /*+ REPARTITION_BY_RANGE({files}, {name}) */ * FROM {relation}) SORT BY {name}"


def files_for(size: int) -> int:
    """Return into how many files rows of so many bytes are written unless it is said."""
    return max(1, min(_ENOUGH_FILES, size // _SMALL_FILE), size // _LARGE_FILE)


def found_column(columns: Columns, wanted: str) -> str:
    """Return the name of a column as the table has it.

    Raises:
        ProgrammingError: there is none of this name.
        NotSupportedError: files have no bounds of its type.
    """
    by_name = {name.lower(): (name, kind) for name, kind in columns}
    if wanted.lower() not in by_name:
        near = difflib.get_close_matches(wanted.lower(), by_name, 1)
        hint = f" Did you mean {by_name[near[0]][0]!r}?" if near else ""
        raise ProgrammingError(f"There is no column {wanted!r}.{hint} There are {', '.join(name for name, _ in columns)}.")
    name, kind = by_name[wanted.lower()]
    if _WITH_BOUNDS.fullmatch(kind) is None:
        raise NotSupportedError(f"Rows cannot be clustered by {name!r}: files have no minimum and maximum of type {kind}.")
    return name


def statistics_property(columns: Columns, column: str, properties: Mapping[str, str]) -> str | None:
    """Return the assignment, for TBLPROPERTIES, of what ``statistics_columns`` finds; None when nothing is to be set."""
    found = statistics_columns(columns, column, properties)
    return None if found is None else f"{quoted_text(STATISTICS_COLUMNS)} = {quoted_text(found)}"


def statistics_columns(columns: Columns, column: str, properties: Mapping[str, str]) -> str | None:
    """Return a value of STATISTICS_COLUMNS with which files have bounds of the column; None when they have them anyway."""
    listed = properties.get(STATISTICS_COLUMNS)
    if listed is not None:
        known = {name.strip().strip("`").lower() for name in listed.split(",")}
        return None if column.lower() in known else ",".join(filter(None, (listed, quoted_name(column))))
    most = int(properties.get(_INDEXED_COLUMNS, _DEFAULT_INDEXED))
    before = columns[: [name for name, _ in columns].index(column)]
    # A STRUCT counts once for each of its fields.
    if most < 0 or (len(before) < most and not any(kind.startswith("struct<") for _, kind in before)):
        return None
    kept = [name for name, kind in before if _WITH_BOUNDS.fullmatch(kind)][: max(0, most - 1)]
    return ",".join(map(quoted_name, (*kept, column)))
