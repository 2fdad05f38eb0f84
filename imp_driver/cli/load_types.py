"""Whether the columns of files fit those of a table that they are added to, and whether a new table can have their names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from imp_driver.errors import ProgrammingError
from imp_driver.parse.clustering import Columns
from imp_driver.values.quoting import quoted_name
from imp_driver.values.tables import UNFIT_CHARACTERS

_TEXT = re.compile(r"string|char\(\d+\)|varchar\(\d+\)")
_FAMILIES = tuple(
    map(re.compile, (r"tinyint|smallint|int|bigint|float|double|decimal\(.*\)|boolean", r"date|timestamp|timestamp_ntz", "binary"))
)
"""Types whose values are made into each other; text is made into any, value by value."""
_DECIMAL = re.compile(r"decimal\(\d+,-?\d+\)")
MAPPING = "'delta.columnMapping.mode' = 'name'"
"""Assignment, for TBLPROPERTIES, by which a table maps names."""


def mapped_columns(source: Columns) -> list[str]:
    """Return the columns that a new table can have only where it maps names: by their own, or by the name of a field within."""
    return [name for name, kind in source if UNFIT_CHARACTERS & set(name) or _has_mapped_fields(kind)]


def _has_mapped_fields(kind: str) -> bool:
    # Commas stand between the fields of a type as well.
    return "struct<" in kind and bool((UNFIT_CHARACTERS - {","}) & set(_DECIMAL.sub("", kind)))


def check_fit(source: Columns, target: Columns, table: str) -> None:
    """Do nothing where the columns can be added to a table's, but for single values. What is no plain type is left to Spark.

    Raises:
        ProgrammingError: a column is not in the table, or of a type there that its values never have.
    """
    there = ", ".join(f"{name} {kind}" for name, kind in target)
    unknown = [name for name, _ in source if name.lower() not in {other.lower() for other, _ in target}]
    if unknown:
        raise ProgrammingError(f"The table {table} has no column {' and no '.join(map(repr, unknown))}. It has {there}.")
    others = [each for each in _different(source, target) if not _fits(each[1], each[2])]
    if others:
        raise ProgrammingError(f"The files do not fit the table {table}: {_told(others)}. Nothing was loaded.")


def misfit_query(source: Columns, target: Columns, relation: str) -> tuple[list[str], str] | None:
    """Return columns with a sentence about each, and a query that gives for each how many values do not fit and the first of them.

    None where all types are the same. The query's one row has two values a column.
    """
    others = [each for each in _different(source, target) if _fits(each[1], each[2]) and each[1] != "void"]
    plain = [each for each in others if any(family.fullmatch(each[2]) for family in _FAMILIES)]
    if not plain:
        return None
    values = []
    for name, _, wanted in plain:
        column = quoted_name(name)
        is_lost = f"{column} IS NOT NULL AND try_cast({column} AS {wanted}) IS NULL"
        values += [f"count_if({is_lost})", f"CAST(first(CASE WHEN {is_lost} THEN {column} END, true) AS STRING)"]
    return [_told([each]) for each in plain], f"SELECT {', '.join(values)} FROM {relation}"


def misfits(sentences: Sequence[str], row: Sequence[object]) -> str | None:
    """Return what the row of such a query says; None where all values fit."""
    counts = zip(sentences, row[::2], row[1::2], strict=True)
    found = [f"{sentence}, and {count} of its values do not fit, such as {value!r}" for sentence, count, value in counts if count]
    return "; ".join(found) or None


def _different(source: Columns, target: Columns) -> list[tuple[str, str, str]]:
    kinds = {name.lower(): kind for name, kind in target}
    return [(name, kind, kinds[name.lower()]) for name, kind in source if kinds[name.lower()] != kind]


def _told(columns: Iterable[tuple[str, str, str]]) -> str:
    return "; ".join(f"{name!r} is {kind} in the files and {wanted} in the table" for name, kind, wanted in columns)


def _fits(kind: str, wanted: str) -> bool:
    if _TEXT.fullmatch(kind) or _TEXT.fullmatch(wanted):
        return True
    here, there = (next((number for number, family in enumerate(_FAMILIES) if family.fullmatch(each)), None) for each in (kind, wanted))
    return here is None or there is None or here == there
