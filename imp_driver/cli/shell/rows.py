"""Rows of a result as CSV (RFC 4180) and as JSON, one object a line; streamed, without any package."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, Protocol, TypeAlias

import pyarrow as pa

from imp_driver.cli.values import as_json, as_text
from imp_driver.dbapi.typeobjects import Description

_BATCH = 2_000
_NEEDS_QUOTES = re.compile(r'[",\r\n]|^$|^\s|\s$')
"""Empty text has quotes, which tells it from NULL, and so have blanks that a reader may cut off."""


class Result(Protocol):
    """Rows that are read once: of a cursor, or of a list of the shell's own."""

    @property
    def description(self) -> list[Description] | None: ...

    def fetchmany(self, size: int) -> Sequence[tuple[Any, ...]]: ...

    def fetch_record_batches(self) -> Iterator[pa.RecordBatch]: ...


WriteRows: TypeAlias = Callable[[IO[str], Result, bool], Iterator[int]]
"""Writes what is left of a result, with a header if the flag says so; yields the numbers of rows as they are written."""


def _names(result: Result) -> list[str]:
    """Return the names of a result's columns."""
    return [name for name, *_ in result.description or ()]


def rows_told(count: int) -> str:
    return f"{count:,} {'row' if count == 1 else 'rows'}"


def write_csv(out: IO[str], result: Result, has_header: bool) -> Iterator[int]:
    """Write records that end in CR LF; NULL is a field without anything."""
    if has_header:
        out.write(_record(_names(result)))
    while rows := result.fetchmany(_BATCH):
        out.writelines(map(_record, rows))
        yield len(rows)


def write_json(out: IO[str], result: Result, has_header: bool) -> Iterator[int]:
    """Write an object for each row, whose members are the columns; of columns of one name the second is ``name_2``."""
    members = [f"{as_json(name)}: " for name in _different(_names(result))]
    while rows := result.fetchmany(_BATCH):
        for row in rows:
            out.write("{" + ", ".join(member + as_json(value) for member, value in zip(members, row, strict=True)) + "}\n")
        yield len(rows)


FORMATS: dict[str, WriteRows] = {"csv": write_csv, "json": write_json}


def _record(values: Sequence[object]) -> str:
    return ",".join("" if value is None else _field(as_text(value)) for value in values) + "\r\n"


def _field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


def _different(names: Sequence[str]) -> list[str]:
    different: list[str] = []
    for name in names:
        number, chosen = 1, name
        while chosen in different:
            number += 1
            chosen = f"{name}_{number}"
        different.append(chosen)
    return different
