"""Runs statements on behalf of a command."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from imp_driver.ports import Outcome
from imp_driver.values.execution import Execution

RunOne: TypeAlias = Callable[[Execution], Outcome]


def without_rows(run_one: RunOne, text: str, execution: Execution) -> Outcome:
    """Run one statement, and leave its rows alone. Raises Error."""
    outcome = run_one(execution.of(text))
    if outcome.stream is not None:
        outcome.stream.close()
    return outcome
