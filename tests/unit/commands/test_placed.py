"""Places of errors within statements of the driver."""

from __future__ import annotations

import pytest

from imp_driver.commands.placed import placed
from imp_driver.errors import ProgrammingError, QueryPosition

TEXT = "CREATE INCREMENTAL VIEW v AS\n  SELECT a,\n b FROM t"
QUERY = "SELECT a,\n b FROM t"


@pytest.mark.parametrize(
    ("query", "place", "wanted"),
    [
        (QUERY, QueryPosition(1, 8, 7, 7), QueryPosition(2, 10, 38, 38)),
        (QUERY, QueryPosition(2, 2, 11, 11), QueryPosition(3, 2, 42, 42)),
        (QUERY, QueryPosition(2, 2), QueryPosition(3, 2)),
        (QUERY, None, None),
        ("SELECT other", QueryPosition(1, 8, 7, 7), None),
        ("", QueryPosition(1, 8, 7, 7), None),
    ],
)
def test_an_error_has_its_place_in_the_whole_statement(query: str, place: QueryPosition | None, wanted: QueryPosition | None) -> None:
    with pytest.raises(ProgrammingError) as raised, placed(query, TEXT):
        raise ProgrammingError("no", position=place)
    assert raised.value.position == wanted
    if wanted is not None and wanted.start is not None:
        assert TEXT[wanted.start] == QUERY[place.start or 0]  # type: ignore[union-attr]
