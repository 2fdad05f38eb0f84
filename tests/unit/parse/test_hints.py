"""Names in optimizer hints: no tables, and without a place in the text."""

from __future__ import annotations

from typing import cast

import pytest

from imp_driver.parse.statement import parse, table_name, tables_in
from imp_driver.ports import Relation, RelationKind, Session
from imp_driver.snapshot.versions import text_at

HINTED = (
    "SELECT 'abcdefghijklmnopqrstuvwxyz0123456789' AS x, hex(s) FROM "
    "(SELECT /*+ COALESCE(1), BROADCAST(link) */ link.src AS s FROM link JOIN node ON link.src = node.id)"
)


class Tables:
    """A session in which every name is a Delta table."""

    def resolve(self, name: tuple[str, ...]) -> Relation:
        return Relation(RelationKind.DELTA_TABLE, name, f"/{name[-1]}")


class Versions:
    reads_views = True

    def of(self, name: tuple[str, ...], location: str) -> int | None:
        return 7


def test_names_in_hints_are_no_tables() -> None:
    tree = parse(HINTED).tree
    assert tree is not None
    assert [table_name(each) for each in tables_in(tree)] == [("link",), ("node",)]


@pytest.mark.parametrize("hint", ["BROADCAST(link)", "MERGE(link, node)", "BROADCAST(l)", "COALESCE(1), SHUFFLE_HASH(node)"])
def test_a_transaction_pins_the_tables_and_nothing_else(hint: str) -> None:
    text = HINTED.replace("COALESCE(1), BROADCAST(link)", hint)
    found = text_at(parse(text), cast(Session, Tables()), Versions())
    assert found == text.replace("FROM link JOIN node ON", "FROM link VERSION AS OF 7 JOIN node VERSION AS OF 7 ON")
