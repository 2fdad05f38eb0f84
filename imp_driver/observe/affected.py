"""How many rows a statement changed, as Spark says it."""

from __future__ import annotations

from imp_driver.ports import ResultStream


def counted_rows(stream: ResultStream) -> int | None:
    """Close the stream of a statement that changed a table; return the rows it counted, None where it counts none."""
    counts = stream.columns and stream.columns[0].name == "num_affected_rows"
    batch = stream.next_batch() if counts else None
    stream.close()
    return None if batch is None else int(batch.column(0)[0].as_py())
