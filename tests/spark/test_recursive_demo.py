"""``imp demo --recursive``, short, in the Spark of this suite."""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path

from rich.console import Console

import imp_driver
from imp_driver.cli import recursive


def test_the_demo_ends_with_equal_counts(engine: imp_driver.Connection, warehouse: Path) -> None:
    console = Console(file=io.StringIO(), width=120)
    assert recursive.run(argparse.Namespace(warehouse=str(warehouse), queries=3, seed=7), console) == 0
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    records = [json.loads(line) for line in shown.splitlines()]
    assert [each["record"] for each in records] == ["started", "network", "view", "reading", "reading", "reading", "summary"]
    assert (records[1]["links"], records[1]["nodes"], records[1]["domains"]) == (396, 100, 13)
    readings = records[3:6]
    assert readings[0]["unreachable_pairs"] == 0
    assert [each["decision"] for each in readings[1:]] == ["MAINTAINED", "MAINTAINED"]
    assert (records[-1]["compared"], records[-1]["different"]) == (1, 0)
