"""EXPLAIN WHY [UP TO n] SELECT .. FROM v: a line for each base row of each set of them by which a row of a recursive view is there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pyarrow as pa

from imp_driver.answer.answers import Answers
from imp_driver.answer.why import Support
from imp_driver.commands.local import columns_of
from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.maintain.upkeep import Means
from imp_driver.parse.statement import check_query, parse
from imp_driver.ports import ResultColumn
from imp_driver.values.execution import Execution
from imp_driver.values.refusal import Refused

MOST = 10
"""Sets of base rows that are shown of each row, unless UP TO says how many."""
_BOUND = re.compile(r"UP\s+TO\s+(\S+)\s+(.*)", re.IGNORECASE | re.DOTALL)
_SCHEMA = pa.schema([("row", pa.int64()), ("values", pa.string()), ("alternative", pa.int64()), ("base_row", pa.string())])


def explained_why(
    argument: str, answers: Answers, execution: Execution, means: Means, describe: Callable[[str, Execution], None]
) -> SupportStream:
    """Return the sets of base rows by which the rows of a query are there, each found when it is read.

    Args:
        describe: raises what Spark says of a query.

    Raises:
        ProgrammingError: it is no query, or the bound is no number above zero.
        NotSupportedError: it is not kept why these rows are there; the message says why not.
    """
    bound = _BOUND.fullmatch(argument)
    query = argument if bound is None else bound[2]
    most = MOST if bound is None else int(bound[1]) if bound[1].isdecimal() else 0
    if not most:
        raise ProgrammingError("UP TO is followed by a number above zero: EXPLAIN WHY UP TO 3 SELECT ..")
    check_query(query, "What EXPLAIN WHY explains")
    try:
        return SupportStream(answers.why(parse(query), execution.with_text(query), means, most))
    except Refused as refused:
        describe(query, execution)
        raise NotSupportedError(f"It cannot be said why these rows are there: {refused.grounds.told}.") from None


class SupportStream:
    """A ResultStream with a batch for each set of base rows."""

    def __init__(self, found: Iterator[tuple[Support, ...]]) -> None:
        self.schema = _SCHEMA
        self.columns: tuple[ResultColumn, ...] = columns_of(_SCHEMA)
        self._found = found

    def next_batch(self) -> pa.RecordBatch | None:
        each = next(self._found, None)
        if each is None:
            return None
        rows = [{"row": one.row, "values": one.values, "alternative": one.alternative, "base_row": one.base} for one in each]
        return pa.RecordBatch.from_pylist(rows, schema=_SCHEMA)

    def close(self) -> None:
        self._found = iter(())
