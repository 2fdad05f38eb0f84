"""What Delta does not know about a table - keys, unique columns, indexes - kept in its properties, as information only.

Nothing enforces these: they are there so that a reflected model is the model that was made. CHECK constraints are Delta's own and enforced.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

PRIMARY_KEY = "imp.primary_key"
FOREIGN_KEY = "imp.foreign_key."
UNIQUE = "imp.unique."
INDEX = "imp.index."
CHECK = "delta.constraints."
_NOT_NULL = "imp_not_null_"
"""Begins the name of a CHECK that stands for NOT NULL, which Delta gives to no column that is there already."""


@dataclass(frozen=True, slots=True)
class Key:
    """Columns of a primary key, unique constraint or index; ``name`` None where it was given none."""

    name: str | None
    columns: tuple[str, ...]
    unique: bool = False


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key; ``schema`` None for a table of the same schema."""

    name: str | None
    columns: tuple[str, ...]
    schema: str | None
    table: str
    referred: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()


def property_of(prefix: str, name: str | None, columns: Iterable[str]) -> str:
    """Return the property that a constraint is kept in."""
    return f"{prefix}{name or 'unnamed_' + '_'.join(columns)}"


def written(value: Key | Reference) -> str:
    return json.dumps(asdict(value), sort_keys=True)


def primary_key(properties: Mapping[str, str]) -> Key | None:
    return _key(properties[PRIMARY_KEY]) if PRIMARY_KEY in properties else None


def keys(properties: Mapping[str, str], prefix: str) -> list[Key]:
    """Return the unique constraints or indexes, by name."""
    return [_key(value) for _, value in _with_prefix(properties, prefix)]


def references(properties: Mapping[str, str]) -> list[Reference]:
    """Return the foreign keys, by name."""
    found = [json.loads(value) for _, value in _with_prefix(properties, FOREIGN_KEY)]
    return [
        Reference(each["name"], tuple(each["columns"]), each["schema"], each["table"], tuple(each["referred"]), _pairs(each["options"]))
        for each in found
    ]


def checks(properties: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return names and conditions, without those that stand for NOT NULL."""
    found = [(name.removeprefix(CHECK), text) for name, text in _with_prefix(properties, CHECK)]
    return [(name, text) for name, text in found if not name.startswith(_NOT_NULL)]


def not_null_name(column: str) -> str:
    """Return the name of the CHECK that stands for NOT NULL; Delta has such names in small letters."""
    return f"{_NOT_NULL}{column}".lower()


def is_checked(column: str, properties: Mapping[str, str]) -> bool:
    """Say whether a CHECK refuses NULL in a column, as NOT NULL would."""
    return f"{CHECK}{not_null_name(column)}" in properties


def _with_prefix(properties: Mapping[str, str], prefix: str) -> list[tuple[str, str]]:
    return sorted((name, value) for name, value in properties.items() if name.startswith(prefix))


def _key(text: str) -> Key:
    found: dict[str, Any] = json.loads(text)
    return Key(found["name"], tuple(found["columns"]), found["unique"])


def _pairs(values: Iterable[Iterable[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in values)
