"""Errors of a query that stands within a statement of the driver: where they are in that statement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from imp_driver.errors import Error, QueryPosition
from imp_driver.values.excerpt import line_and_column


@contextmanager
def placed(query: str, text: str) -> Iterator[None]:
    """Have errors of a query that was run by itself name their place in the statement that ends with it; none where it does not."""
    try:
        yield
    except Error as error:
        place, begin = error.position, text.rfind(query)
        error.position = None
        if place is not None and query and begin >= 0:
            line, column = line_and_column(text, begin)
            error.position = QueryPosition(
                line + place.line - 1,
                place.column + (column - 1 if place.line == 1 else 0),
                None if place.start is None else begin + place.start,
                None if place.stop is None else begin + place.stop,
            )
        raise
