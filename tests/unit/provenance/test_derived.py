"""Why a row is there, worked out from all derivations when it is asked for."""

from __future__ import annotations

import pytest

from imp_driver.provenance.base_rows import Fact
from imp_driver.provenance.derived import Derivations, supports
from imp_driver.provenance.diagrams import Diagrams, TooManyNodes
from imp_driver.provenance.library import LibraryName
from tests.unit.provenance.twins import libraries

pytestmark = pytest.mark.parametrize("library", libraries())


def _fact(relation: int, name: str) -> Fact:
    return relation, (name,)


A, B, C = (_fact(1, name) for name in "abc")
TOP, ONE, OTHER, ALONE = (_fact(0, name) for name in ("top", "one", "other", "alone"))


def _sets(library: LibraryName, derivations: Derivations, fact: Fact) -> list[str]:
    """Return the names of the base rows of each set."""
    return ["".join(sorted(str(row[0]) for _, row in found)) for found in supports(derivations, fact, Diagrams(library))]


def test_rows_that_rest_on_each_other_are_there_by_what_leads_to_them(library: LibraryName) -> None:
    derivations: Derivations = {TOP: [(ONE,), (OTHER, C)], ONE: [(A,), (OTHER,)], OTHER: [(ONE,), (B,)], ALONE: [(ALONE,)]}
    assert sorted(_sets(library, derivations, TOP)) == ["a", "b"]
    assert _sets(library, derivations, ALONE) == []
    assert _sets(library, derivations, _fact(0, "unknown")) == []


def test_what_is_absorbed_is_told_once(library: LibraryName) -> None:
    derivations: Derivations = {TOP: [(ONE, OTHER), (A, B, C)], ONE: [(A,), (B, C)], OTHER: [(A,), (C,)]}
    assert _sets(library, derivations, TOP) == ["a", "bc"]


def test_a_row_that_nothing_is_needed_for(library: LibraryName) -> None:
    assert _sets(library, {TOP: [()]}, TOP) == [""]


def test_too_many_nodes(library: LibraryName) -> None:
    pairs = [(_fact(1, f"a{number}"), _fact(1, f"b{number}")) for number in range(12)]
    with pytest.raises(TooManyNodes):
        list(supports({TOP: pairs}, TOP, Diagrams(library, limit=4)))
