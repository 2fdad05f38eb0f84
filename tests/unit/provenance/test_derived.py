"""Why a row is there, worked out from all derivations when it is asked for."""

from __future__ import annotations

import pytest

from imp_driver.provenance.derived import Derivations, supports
from imp_driver.provenance.diagrams import Diagrams, TooManyNodes
from imp_driver.provenance.library import LibraryName
from tests.unit.provenance.twins import libraries

pytestmark = pytest.mark.parametrize("library", libraries())

A, B, C = ((1, (name,)) for name in "abc")
TOP, ONE, OTHER, ALONE = ((0, (name,)) for name in ("top", "one", "other", "alone"))


def _sets(library: LibraryName, derivations: Derivations, fact: tuple[int, tuple[object, ...]]) -> list[set[object]]:
    return [{row[0] for _, row in found} for found in supports(derivations, fact, Diagrams(library))]


def test_rows_that_rest_on_each_other_are_there_by_what_leads_to_them(library: LibraryName) -> None:
    derivations = {TOP: [(ONE,), (OTHER, C)], ONE: [(A,), (OTHER,)], OTHER: [(ONE,), (B,)], ALONE: [(ALONE,)]}
    assert sorted(map(sorted, _sets(library, derivations, TOP))) == [["a"], ["b"]]  # type: ignore[type-var]
    assert _sets(library, derivations, ALONE) == []
    assert _sets(library, derivations, (0, ("unknown",))) == []


def test_what_is_absorbed_is_told_once(library: LibraryName) -> None:
    derivations = {TOP: [(ONE, OTHER), (A, B, C)], ONE: [(A,), (B, C)], OTHER: [(A,), (C,)]}
    assert sorted(map(sorted, _sets(library, derivations, TOP))) == [["a"], ["b", "c"]]  # type: ignore[type-var]


def test_a_row_that_nothing_is_needed_for(library: LibraryName) -> None:
    assert _sets(library, {TOP: [()]}, TOP) == [set()]


def test_too_many_nodes(library: LibraryName) -> None:
    pairs = [((1, (f"a{number}",)), (1, (f"b{number}",))) for number in range(12)]
    with pytest.raises(TooManyNodes):
        list(supports({TOP: pairs}, TOP, Diagrams(library, limit=4)))
