"""Rows that share values get variables next to each other, which is what keeps diagrams small."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.provenance.absorption import Absorption
from imp_driver.provenance.base_rows import Fact
from imp_driver.provenance.variable_order import rows_nearby
from tests.unit.provenance.twins import LINEAR

VALUES = st.sampled_from([1, 2, "x", None, 2.5])


@given(facts=st.lists(st.tuples(st.integers(0, 2), st.lists(VALUES, max_size=3).map(tuple)), unique=True))
def test_all_rows_stay_once(facts: list[Fact]) -> None:
    found = rows_nearby(facts)
    assert len(found) == len(facts)
    assert set(found) == set(facts)


def test_a_chain_is_walked_from_one_end() -> None:
    links: list[Fact] = [(0, (number, number + 1)) for number in range(20)]
    mixed = random.Random(4).sample(links, len(links))
    assert rows_nearby(mixed) in (links, links[::-1])


def test_values_that_many_rows_have_connect_nothing() -> None:
    links: list[Fact] = [(0, (name, other, 50)) for name, other in zip("abcdefghijklmnopqrst", "bcdefghijklmnopqrstu", strict=True)]
    mixed = random.Random(4).sample(links, len(links))
    assert rows_nearby(mixed) in (links, links[::-1])


def test_a_batch_needs_fewer_nodes_than_links_in_any_order() -> None:
    ring: list[Row] = [pair for number in range(12) for pair in ((number, (number + 1) % 12), ((number + 1) % 12, number))]
    random.Random(1).shuffle(ring)
    one_by_one, batch = Absorption(LINEAR), Absorption(LINEAR)
    for link in ring:
        one_by_one.insert(0, link)
    batch.apply((), [(0, link) for link in ring])
    assert set(one_by_one.rows(1)) == set(batch.rows(1))
    assert batch.node_count < one_by_one.node_count
