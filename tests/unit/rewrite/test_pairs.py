"""Each question is rewritten as its pair says, and both texts have the same rows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.soundness.engine import Warehouse
from tests.unit.rewrite.rewriting import PAIRS, Pair, a_warehouse, pairs_of, rewritten

EVERY = [(path.stem, pair) for path in sorted(PAIRS.glob("*.sql")) for pair in pairs_of(path)]


@pytest.fixture(scope="module")
def warehouse() -> Iterator[Warehouse]:
    found = a_warehouse()
    yield found
    found.connection.close()


@pytest.mark.parametrize("pair", [pair for _, pair in EVERY], ids=[f"{name}: {pair.shows}" for name, pair in EVERY])
def test_pair(pair: Pair, warehouse: Warehouse) -> None:
    assert rewritten(pair.question, warehouse) == pair.expected


def test_the_files_are_as_they_are_written() -> None:
    for path in PAIRS.glob("*.sql"):
        assert path.read_text(encoding="utf-8") == "\n".join(pair.text for pair in pairs_of(path))


def test_there_are_pairs_of_every_kind() -> None:
    names = {name for name, _ in EVERY}
    assert names == {"groups", "joins", "nested", "rows", "unchanged"}
    assert len(EVERY) >= 30
