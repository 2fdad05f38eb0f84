"""The paper's example: the network of figure 3, its reachability in figure 2, and the deletion of a link in section 4."""

from __future__ import annotations

import pytest

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.provenance.absorption import Absorption
from imp_driver.provenance.base_rows import Fact
from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.fixpoint import Passing
from imp_driver.provenance.library import Function, LibraryName
from imp_driver.provenance.minimal_sets import minimal_sets
from imp_driver.provenance.partitions import Network, Strategy, Traffic
from imp_driver.provenance.queries import reachable
from tests.unit.provenance.twins import LINEAR, libraries

LINKS = ("AB", "BC", "CA", "CB")
"""With the variables p1 to p4."""
PROVENANCE = {
    "AA": {"p1 p2 p3"},
    "AB": {"p1"},
    "AC": {"p1 p2"},
    "BA": {"p2 p3"},
    "BB": {"p2 p4", "p1 p2 p3"},
    "BC": {"p2"},
    "CA": {"p3"},
    "CB": {"p4", "p1 p3"},
    "CC": {"p2 p4", "p1 p2 p3"},
}
"""Of each row, as figure 2 has it at step 4: any of these, each all of its variables."""

pytestmark = pytest.mark.parametrize("library", libraries())


def row(pair: str) -> Row:
    return tuple(pair)


def written(diagrams: Diagrams, annotations: dict[Row, Function]) -> dict[str, set[str]]:
    return {
        "".join(map(str, pair)): {" ".join(f"p{number + 1}" for number in sorted(found)) for found in minimal_sets(diagrams, function)}
        for pair, function in annotations.items()
    }


def loaded(library: LibraryName, strategy: Strategy, passing: Passing) -> tuple[Diagrams, Network]:
    """Return a network of three nodes, one for each of A, B and C, that has all links."""
    diagrams = Diagrams(library)
    network = Network(reachable(passing), 3, strategy, diagrams=diagrams, place=lambda value: "ABC".index(str(value)))
    for link in LINKS:
        network.insert("link", row(link))
    network.settle()
    return diagrams, network


def test_nine_rows_with_the_provenance_of_figure_2(library: LibraryName) -> None:
    diagrams = Diagrams(library)
    relations = Absorption(LINEAR, diagrams)
    # One after the other, so that their variables are numbered so.
    for link in LINKS:
        relations.insert(0, row(link))
    assert written(diagrams, {pair: relations.annotation(1, pair) for pair in relations.rows(1)}) == PROVENANCE
    lost: Fact = (0, row("CB"))
    assert relations.would_vanish([lost]) == ()
    assert relations.delete(0, row("CB")).vanished == ()
    kept = {pair: {each for each in found if "p4" not in each} for pair, found in PROVENANCE.items()}
    assert written(diagrams, {pair: relations.annotation(1, pair) for pair in relations.rows(1)}) == kept


@pytest.mark.parametrize(
    ("strategy", "passing", "shipped"),
    [
        # 4 links and 12 rows of the view.
        (Strategy.SET, Passing.DIFFERENCE, 16),
        # "An additional 4 tuples": those with stars in figure 2, which prints derivations.
        (Strategy.PLAIN, Passing.DERIVATION, 20),
        # Of the differences of algorithm 1 one is false when it is joined: CB from B by p4 AND (p1 p2 p3 AND NOT p2 p4).
        (Strategy.PLAIN, Passing.DIFFERENCE, 19),
        # MinShip with a window of one row absorbs that one before it is shipped.
        (Strategy.EAGER, Passing.DERIVATION, 19),
        (Strategy.EAGER, Passing.DIFFERENCE, 19),
        (Strategy.LAZY, Passing.DERIVATION, 16),
        (Strategy.LAZY, Passing.DIFFERENCE, 16),
    ],
)
def test_shipped_rows(library: LibraryName, strategy: Strategy, passing: Passing, shipped: int) -> None:
    diagrams, network = loaded(library, strategy, passing)
    assert network.traffic.tuples == shipped
    found = network.annotations()
    assert len(found) == 9
    if strategy in (Strategy.PLAIN, Strategy.EAGER):
        assert written(diagrams, found) == PROVENANCE


@pytest.mark.parametrize("passing", Passing)
@pytest.mark.parametrize("strategy", [Strategy.PLAIN, Strategy.EAGER])
def test_deleting_a_link_takes_two_messages_and_no_row(library: LibraryName, strategy: Strategy, passing: Passing) -> None:
    _, network = loaded(library, strategy, passing)
    network.traffic = Traffic()
    network.delete("link", row("CB"))
    network.settle()
    assert network.traffic == Traffic(messages=2, tuples=0, bytes=40, provenance_bytes=0, announcements=2)
    assert len(network.annotations()) == 9


@pytest.mark.parametrize("passing", Passing)
def test_lazily_the_alternatives_are_shipped_then(library: LibraryName, passing: Passing) -> None:
    _, network = loaded(library, Strategy.LAZY, passing)
    network.traffic = Traffic()
    network.delete("link", row("CB"))
    network.settle()
    # BB and BC go from C with the news to B; AB goes from B to A.
    assert (network.traffic.messages, network.traffic.announcements, network.traffic.tuples) == (3, 2, 3)
    assert len(network.annotations()) == 9
