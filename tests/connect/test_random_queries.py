"""Random queries and changes at a Spark Connect server; shadow mode compares each answer with the plain one."""

from __future__ import annotations

import random

import pytest

import imp_driver
from imp_driver.reasons import Decision
from tests.connect.server import Server
from tests.seeds import WIDE, of_today
from tests.soundness.session import ask, fill, make_tables
from tests.spark.test_random_streams import changes_and_queries


def test_answers_are_those_of_plain_spark(cursor: imp_driver.Cursor) -> None:
    chance = random.Random(4)
    make_tables(cursor, "random_queries")
    # Without rows at the start most of the few changes would change nothing, and no state would have to be maintained.
    fill(cursor, chance)
    decisions = ask(cursor, chance, 200 if WIDE else 18)
    assert {"CAPTURED", "MAINTAINED", "NOT_USED"} <= decisions.keys(), decisions


@pytest.mark.parametrize("feed", of_today([True, False]), ids=lambda feed: "feed" if feed else "files")
def test_no_difference_in_random_streams(server: Server, feed: bool) -> None:
    with imp_driver.connect(f"{server.url}?sketch=shadow&fragments=3") as connection:
        decisions = changes_and_queries(connection.cursor(), seed=3, feed=feed, steps=60 if WIDE else 4)
    assert decisions[Decision.MAINTAINED] >= 2, decisions
