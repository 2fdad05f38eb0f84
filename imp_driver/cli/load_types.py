"""Whether the columns of files fit those of a table that they are added to."""

from __future__ import annotations

import re

from imp_driver.errors import ProgrammingError
from imp_driver.parse.clustering import Columns

_NUMBER = re.compile(r"tinyint|smallint|int|bigint|float|double|decimal\(.*\)")
_TEXT = re.compile(r"string|char\(\d+\)|varchar\(\d+\)")
_TIME = re.compile(r"date|timestamp|timestamp_ntz")
_ATOMIC = re.compile(rf"{_NUMBER.pattern}|{_TEXT.pattern}|{_TIME.pattern}|boolean|binary")


def check_fit(source: Columns, target: Columns, table: str) -> None:
    """Do nothing where all columns can be added to a table's.

    Source: Spark's rules of assignment (ANSI): numbers to numbers, dates and timestamps to each other, everything to text. Values that are
    too large for their column are found when they are written. What is no plain type is left to Spark.

    Raises:
        ProgrammingError: a column is not in the table, or of another type there.
    """
    kinds = {name.lower(): kind for name, kind in target}
    there = ", ".join(f"{name} {kind}" for name, kind in target)
    unknown = [name for name, _ in source if name.lower() not in kinds]
    if unknown:
        raise ProgrammingError(f"The table {table} has no column {' and no '.join(map(repr, unknown))}. It has {there}.")
    others = [(name, kind, kinds[name.lower()]) for name, kind in source if not _fits(kind, kinds[name.lower()])]
    if others:
        told = "; ".join(f"{name!r} is {kind} in the files and {wanted} in the table" for name, kind, wanted in others)
        raise ProgrammingError(f"The files do not fit the table {table}: {told}. Nothing was loaded.")


def _fits(kind: str, wanted: str) -> bool:
    if kind in (wanted, "void") or not (_ATOMIC.fullmatch(kind) and _ATOMIC.fullmatch(wanted)):
        return True
    if _TEXT.fullmatch(wanted):
        return True
    return any(each.fullmatch(kind) and each.fullmatch(wanted) for each in (_NUMBER, _TIME))
