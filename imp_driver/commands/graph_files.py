"""What LOAD reads: a file's triples as one table."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from imp_driver.errors import NotSupportedError, OperationalError
from imp_driver.sparql.files import SCHEMA, format_of, read_batches
from imp_driver.sparql.terms import Term


def loaded_rows(location: str, graph: Term | None) -> pa.Table:
    """Return the different triples of a file.

    Args:
        location: a path, or an IRI of scheme file.
        graph: name of the graph for triples for which the file names none.

    Raises:
        ProgrammingError: the file is of another format than its name says.
        NotSupportedError: it is not in a file system.
        OperationalError: it cannot be read.
    """
    path = _path(location)
    if not path.is_file():
        raise OperationalError(f"The file {path} {'is a folder' if path.is_dir() else 'does not exist'}.")
    batches = list(read_batches(path, format_of(path), graph))
    rows = pa.concat_tables(batches) if batches else SCHEMA.empty_table()
    return rows.group_by(rows.column_names, use_threads=False).aggregate([]).cast(SCHEMA)


def _path(location: str) -> Path:
    parts = urlsplit(location)
    if parts.scheme == "file" and parts.netloc in ("", "localhost"):
        return Path(unquote(parts.path))
    if parts.scheme:
        raise NotSupportedError(f"LOAD reads files; {location} is none. Fetch it, and load the file.")
    return Path(unquote(location)).expanduser()
