"""``imp demo --recursive``, short, in the Spark of this suite."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from rich.console import Console

import imp_driver
from imp_driver.cli import recursive


def test_the_demo_ends_with_equal_counts(engine: imp_driver.Connection, warehouse: Path) -> None:
    console = Console(file=io.StringIO(), width=120)
    assert recursive.run(argparse.Namespace(warehouse=str(warehouse), queries=3, seed=7), console) == 0
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "396 links of 100 nodes in 13 domains" in shown
    assert "  1 all links are up: 0 unreachable pairs, driver " in shown
    assert shown.count("MAINTAINED") == 2
    assert "All counts are equal (1 computed anew at the same version of the table)." in shown
