"""A bucket of a state, read from the files of its table in this process: some milliseconds in the place of a job of the engine."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError
from pyarrow import dataset

from imp_driver.ports import BUCKET, BUCKET_STATE


def read_bucket(target: str, version: int, number: int) -> pa.Table | None:
    """Return the BUCKET_STATE row of a bucket, none where it has no groups; None where the engine is to be asked for it."""
    if "://" in target or not Path(target, "_delta_log").is_dir():
        return None
    try:
        rows = DeltaTable(target, version=version).to_pyarrow_dataset()
        return rows.to_table(columns=BUCKET_STATE.names, filter=dataset.field(BUCKET) == number).cast(BUCKET_STATE)
    except (DeltaError, OSError, ValueError, NotImplementedError):
        return None
