"""Random queries and changes at a Spark Connect server; shadow mode compares each answer with the plain one."""

from __future__ import annotations

import random

import imp_driver
from tests.operators.model import WIDE
from tests.soundness.session import ask, make_tables


def test_answers_are_those_of_plain_spark(cursor: imp_driver.Cursor) -> None:
    make_tables(cursor, "random_queries")
    assert {"CAPTURED", "NOT_USED"} <= ask(cursor, random.Random(4), 500 if WIDE else 20).keys()
