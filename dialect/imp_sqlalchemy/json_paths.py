"""Keys and paths into JSON -> the paths that variant_get of Spark takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import exc
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.sql import sqltypes

from imp_sqlalchemy.quoting import quoted

Processor = Callable[[Any], Any]


def path_of(steps: Iterable[str | int]) -> str:
    """Return the path along keys of objects and indexes of arrays.

    Raises:
        sqlalchemy.exc.ArgumentError: Spark has no way to write one of the keys.
    """
    return "$" + "".join(map(_step, steps))


def _step(step: str | int) -> str:
    if isinstance(step, int):
        if step < 0:
            raise exc.ArgumentError(f"Spark counts the elements of a JSON array from 0; there is no index {step}.")
        return f"[{step}]"
    # Spark reads no escapes within quotes, so the quote must be one that the key does not have.
    if step and not set("'?") & set(step):
        return f"['{step}']"
    if step and not set('"?') & set(step):
        return f'["{step}"]'
    if step and not set(".[") & set(step):
        return f".{step}"
    raise exc.ArgumentError(f"Spark has no path to the JSON key {step!r}.")


class _Path:
    """Values of one step, or of a sequence of them, bound as the text of a path."""

    def bind_processor(self, dialect: Dialect) -> Processor:
        return lambda value: path_of([value] if isinstance(value, (str, int)) else value)

    def literal_processor(self, dialect: Dialect) -> Processor:
        written = self.bind_processor(dialect)
        return lambda value: quoted(written(value))


class ImpJSONIndex(_Path, sqltypes.JSON.JSONIndexType):
    """One key or index."""


class ImpJSONPath(_Path, sqltypes.JSON.JSONPathType):
    """Keys and indexes, from the outermost in."""
