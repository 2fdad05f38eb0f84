"""An Arrow table -> a frame of Spark with all of its rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema


def frame_of(spark: Any, rows: pa.Table) -> Any:
    """Return a frame in the session ``spark``.

    PySpark's own (4.2) stops at a chunk without rows, so that those of the chunks behind it are lost; it makes none of a nested column
    without any rows.
    """
    if not rows.num_rows and any(map(pa.types.is_nested, rows.schema.types)):
        return spark.createDataFrame([], from_arrow_schema(rows.schema))
    return spark.createDataFrame(rows.combine_chunks())
