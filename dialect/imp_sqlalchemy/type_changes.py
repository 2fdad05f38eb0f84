"""Which types Delta can give a column that has rows: longer texts as they are, wider numbers by its type widening, others not at all."""

from __future__ import annotations

import re
from enum import Enum

_WHOLE = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 20}
"""Digits that a DECIMAL must have before its point to take the place of the type."""
_NAME = re.compile(r"(\w+)(?:\((\d+)(?:, ?(\d+))?\))?")


class Change(Enum):
    """What a change of a column's type needs."""

    NONE = "nothing, the types are the same"
    LONGER = "ALTER COLUMN .. TYPE alone"
    WIDER = "the property delta.enableTypeWidening"
    WITH_TIME = "the same, and the feature timestampNtz"
    UNKNOWN = "Delta alone knows: a nested type"
    REFUSED = "another column"


def change_between(old: str, new: str) -> Change:
    """Return what a change from one type to another needs; both are Spark's names, such as ``DECIMAL(9, 2)``."""
    if old == new:
        return Change.NONE
    before, after = _NAME.fullmatch(old), _NAME.fullmatch(new)
    if before is None or after is None:
        return Change.UNKNOWN
    if before[1] in ("VARCHAR", "CHAR"):
        is_longer = after[1] == "STRING" or (after[1] == "VARCHAR" and int(after[2]) >= int(before[2]))
        return Change.LONGER if is_longer else Change.REFUSED
    if (old, new) == ("DATE", "TIMESTAMP_NTZ"):
        return Change.WITH_TIME
    return Change.WIDER if _is_wider(before, after) else Change.REFUSED


def _is_wider(before: re.Match[str], after: re.Match[str]) -> bool:
    old, new = before[1], after[1]
    if new == "DOUBLE":
        return old in ("FLOAT", "TINYINT", "SMALLINT", "INT")
    if new == "DECIMAL":
        digits, scale = int(after[2]), int(after[3] or 0)
        if old == "DECIMAL":
            return digits - scale >= int(before[2]) - int(before[3] or 0) and scale >= int(before[3] or 0)
        return old in _WHOLE and digits - scale >= _WHOLE[old]
    return old in _WHOLE and new in _WHOLE and _WHOLE[old] < _WHOLE[new]
