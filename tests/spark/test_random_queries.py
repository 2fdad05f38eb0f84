"""Random queries in every shape on Delta, with random changes in between; shadow mode compares each answer with the plain one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import imp_driver
from tests.seeds import WIDE
from tests.soundness.session import ask, make_tables


@pytest.fixture(scope="module")
def cursor(warehouse: Path) -> Iterator[imp_driver.Cursor]:
    with imp_driver.connect(warehouse=str(warehouse), sketch="shadow", answers="off") as connection:
        cursor = connection.cursor()
        make_tables(cursor, "random_queries")
        yield cursor


def test_answers_are_those_of_plain_spark(cursor: imp_driver.Cursor) -> None:
    assert {"CAPTURED", "MAINTAINED", "NOT_USED"} <= ask(cursor, random.Random(4), 400 if WIDE else 28).keys()
