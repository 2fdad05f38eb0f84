"""Runs statements on behalf of a command."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pyarrow as pa

from imp_driver.ports import Outcome, ResultStream
from imp_driver.values.execution import Execution

RunOne: TypeAlias = Callable[[Execution], Outcome]


def without_rows(run_one: RunOne, text: str, execution: Execution) -> Outcome:
    """Run one statement, and leave its rows alone. Raises Error."""
    outcome = run_one(execution.of(text))
    if outcome.stream is not None:
        outcome.stream.close()
    return outcome


def rows_of_stream(stream: ResultStream) -> pa.Table:
    """Return all rows of a result, which is closed then. Raises Error."""
    try:
        return pa.Table.from_batches(list(iter(stream.next_batch, None)), stream.schema)
    finally:
        stream.close()
