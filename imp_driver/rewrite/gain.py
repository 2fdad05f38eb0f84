"""What a filter of ranges saves a query, estimated in bytes: files not read, rows dropped after reading, less its own price.

Source: sketch-safety rules 3.4. The factors come from 10 million rows, grouped, with 1 to 80 ranges (benchmarks, workload
``filters``); a byte of a row that a query reads and works on counts as 1.
"""

from __future__ import annotations

from imp_driver.sketch.coverage import Coverage

LEAST_GAIN = 0.05
"""Share of the bytes that a query reads which a filter must save."""
_DROPPED = 0.5
"""Of the work on a row, what is saved when it is read and then dropped."""
_COMPARED = 0.015
"""Of the work on a row, what comparing it with one range costs."""


def estimated_gain(coverage: Coverage, rows_kept: float, runs: int, query_bytes: int, own_share: float = 1.0) -> float:
    """Return the share of a query's work that a filter saves; below 0 where it costs more than it saves.

    Args:
        coverage: of the tables that are cut.
        rows_kept: share of their rows that the filter lets pass.
        runs: ranges of the filter.
        query_bytes: of the files of all tables that the query reads.
        own_share: of the bytes of the cut tables, what the query's own conditions leave without the filter.
    """
    total = coverage.bytes_total * own_share
    read = min(float(coverage.bytes_kept), total)
    dropped = max(0.0, read - rows_kept * total)
    price = read * _COMPARED * runs
    elsewhere = max(0, query_bytes - coverage.bytes_total)
    return (total - read + _DROPPED * dropped - price) / max(1.0, elsewhere + total)
