"""Each wrong version of an operator is found by a case."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("mutants", ["function_mutants", "frontier_mutants"])
def test_every_mutant_is_found_and_nothing_else(mutants: str) -> None:
    command = [sys.executable, "-m", f"tests.operators.{mutants}"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["the product as it is: 2"], done.stderr
