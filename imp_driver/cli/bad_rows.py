"""Where in files of text the first row stands that cannot be read: Spark often tells neither the file nor the line."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TextIO

from imp_driver.errors import DataError

_OTHER_SEPARATORS = {";": "';'", "\t": "tab", "|": "'|'"}
"""Characters that files of CSV often have in the place of a comma, as a shell takes them."""
_LARGEST_VALUE = 1 << 30
"""Characters."""


def first_bad_row(paths: Sequence[Path], chosen: str, separator: str = ",") -> str | None:
    """Return a sentence about the first bad row; None where none is found, or the format is no text."""
    finders: dict[str, Callable[[TextIO], str | None]] = {"csv": partial(_in_csv, separator=separator), "json": _in_json}
    find = finders.get(chosen)
    if find is None:
        return None
    for path in paths:
        try:
            with _opened(path) as file:
                found = find(file)
        except (OSError, EOFError, UnicodeDecodeError, csv.Error):
            continue
        if found is not None:
            return f"{path} {found}"
    return None


def check_headers(paths: Sequence[Path], separator: str = ",", *, is_given: bool = False) -> None:
    """Do nothing where all files of CSV have the same header, with each name once.

    Raises:
        DataError: a header is missing or names a column twice, two differ, or one is a single name with what separates others in it
            where the separator was not given.
    """
    headers: dict[Path, list[str]] = {}
    for path in paths:
        try:
            with _opened(path) as file:
                header = next(csv.reader(file, delimiter=separator), None)
        except (OSError, EOFError, UnicodeDecodeError, csv.Error):
            continue
        if header is None:
            raise DataError(f"{path} is empty: it has not even a header.")
        if not is_given and len(header) == 1 and (seems := _separator_within(header[0])) is not None:
            raise DataError(
                f"The header of {path} is one column by commas, and the separator seems to be {seems}: say --separator {seems}, "
                "or --separator ',' where it is one column."
            )
        twice = [name for place, name in enumerate(header) if name in header[:place]]
        if twice:
            raise DataError(f"The header of {path} names the column {twice[0]!r} twice.")
        headers[path] = header
    first = next(iter(headers), None)
    for path, header in headers.items():
        if first is not None and header != headers[first]:
            raise DataError(
                f"The headers differ: {first} has {_shown(', '.join(headers[first]))}, and {path} has {_shown(', '.join(header))}."
            )


def _opened(path: Path) -> TextIO:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _separator_within(name: str) -> str | None:
    """Return what ``--separator`` takes for the character that a name has most of; None where it has none of them."""
    most = max(_OTHER_SEPARATORS, key=name.count)
    return _OTHER_SEPARATORS[most] if most in name else None


def _in_csv(file: TextIO, separator: str) -> str | None:
    csv.field_size_limit(_LARGEST_VALUE)
    rows = csv.reader(file, delimiter=separator)
    header = next(rows, [])
    before = rows.line_num
    for row in rows:
        if row and len(row) != len(header):
            return f"line {before + 1} has {_counted(len(row))}, and the header has {len(header)}: {_shown(separator.join(row))}"
        before = rows.line_num
    return None


def _in_json(file: TextIO) -> str | None:
    if file.read(1_024).lstrip().startswith("["):
        return None
    file.seek(0)
    for number, line in enumerate(file, 1):
        try:
            is_row = not line.strip() or isinstance(json.loads(line), dict)
        except ValueError:
            is_row = False
        if not is_row:
            return f"line {number} is no JSON object: {_shown(line.strip())}"
    return None


def _counted(values: int) -> str:
    return "1 value" if values == 1 else f"{values} values"


def _shown(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
