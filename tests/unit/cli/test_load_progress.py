"""``imp load``: rows that are counted while they are written, and bad rows of packed files."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from imp_driver.cli.bad_rows import first_bad_row
from imp_driver.cli.load_progress import Progress, Written, rate


def test_a_bad_row_of_a_packed_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(b"g,x\n1\n"))
    assert first_bad_row([tmp_path / "rows.csv.gz"], "csv") == f"{tmp_path / 'rows.csv.gz'} line 2 has 1 value, and the header has 2: 1"
    assert first_bad_row([tmp_path / "rows.csv.gz"], "parquet") is None


def test_rows_of_whole_files_are_counted_while_they_are_written(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "before.parquet")
    written = Written(tmp_path)
    progress = Progress(Console(file=io.StringIO()), "Writing 2 files ...", written)
    assert progress.line() == "Writing 2 files ... 0 s"
    pq.write_table(pa.table({"a": [1, 2, 3]}), tmp_path / "first.parquet")
    (tmp_path / "half.parquet").write_bytes(b"PAR1")
    assert progress.line() == "Writing 2 files ... 1 written, 3 rows"
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "half.parquet")
    assert progress.line() == "Writing 2 files ... 2 written, 5 rows"
    pq.write_table(pa.table({"a": [0] * 20_000}), tmp_path / "large.parquet")
    assert progress.line().startswith("Writing 2 files ... 3 written, 20,005 rows, ")
    assert progress.line().endswith(" rows a second")
    assert Written(tmp_path / "none").files == 0


def test_of_few_rows_no_rate_is_told() -> None:
    assert rate(20_000, 2.0) == "10,000 rows a second"
    assert rate(3, 7.0) is None
    assert rate(20_000, 0.0) is None


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_shown_in_a_terminal_alone(tmp_path: Path, is_terminal: bool) -> None:
    console = Console(file=io.StringIO(), force_terminal=is_terminal)
    with Progress(console, "Writing 2 files ...", Written(tmp_path)):
        pass
    assert isinstance(console.file, io.StringIO)
    assert ("Writing" in console.file.getvalue()) is is_terminal
