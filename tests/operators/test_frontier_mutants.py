"""Each wrong version of how changes of a recursion are followed where it is kept is found by a random stream."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_every_mutant_is_found_and_nothing_else() -> None:
    command = [sys.executable, "-m", "tests.operators.frontier_mutants"]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["the product as it is: 2"], done.stderr
