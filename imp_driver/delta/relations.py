"""SQL relations over which Spark reads signed rows: the change feed by path, or files of several versions."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from imp_driver.values.quoting import quoted_name, quoted_text
from imp_driver.values.tables import WEIGHT_COLUMN, SchemaColumn, at_version

_GAPS = {
    "date": "BETWEEN DATE'1582-10-05' AND DATE'1582-10-15'",
    "timestamp": "BETWEEN TIMESTAMP'1582-10-04 00:00:00Z' AND TIMESTAMP'1582-10-17 00:00:00Z'",
}
_GAP_ERROR = "raise_error('Delta cannot give changes of rows dated near 1582-10-15 exactly')"
_UNQUOTED = "/@-_.!~'()*,;:$&+="


def change_feed_relation(location: str, columns: Sequence[SchemaColumn], after: int, up_to: int) -> str:
    """Return the signed rows of (after, up_to] as Delta's change feed gives them.

    Delta passes these rows through java.sql values, which know no dates from 1582-10-05 to 1582-10-14 and move them to the 15th. A row near
    that gap in a top-level column therefore fails the query: no answer instead of a wrong one.
    """
    names = ", ".join(quoted_name(column.name) for column in columns)
    checks = [
        f"WHEN {quoted_name(column.name)} {_GAPS[column.type_name]} THEN {_GAP_ERROR}" for column in columns if column.type_name in _GAPS
    ]
    sign = " ".join(["CASE", *checks, "WHEN _change_type IN ('insert', 'update_postimage') THEN 1 ELSE -1 END"])
    weight = f"CAST({sign} AS BIGINT) AS {quoted_name(WEIGHT_COLUMN)}"
    return f"(SELECT {names}, {weight} FROM table_changes_by_path({quoted_text(location)}, {after + 1}, {up_to}))"


def files_relation(location: str, columns: Sequence[str], parts: Iterable[tuple[int, int, Sequence[str]]]) -> str:
    """Return the rows of files as a union of (version at which they are live, weight, paths as Spark spells them)."""
    names = ", ".join(quoted_name(name) for name in columns)
    selects = [
        f"SELECT {names}, CAST({weight} AS BIGINT) AS {quoted_name(WEIGHT_COLUMN)} "
        f"FROM {at_version(f'delta.{quoted_name(location)}', version)} "
        f"WHERE _metadata.file_path IN ({', '.join(quoted_text(path) for path in sorted(paths))})"
        for version, weight, paths in parts
    ]
    return "(" + " UNION ALL ".join(selects) + ")"


def spark_file_path(folder: str, path: str) -> str:
    """Spell the path of a data file (decoded; relative to the folder, or absolute) as the column ``_metadata.file_path`` does."""
    return "file:" + "".join(map(_quoted, path if path.startswith("/") else f"{folder}/{path}"))


def _quoted(character: str) -> str:
    """Quote what Java's URI quotes: letters of other alphabets stay, so ``urllib.parse.quote`` alone would name no file."""
    other = ord(character) > 127 and unicodedata.category(character)[0] not in "ZC"
    return character if other else quote(character, safe=_UNQUOTED)
