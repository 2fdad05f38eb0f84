"""Bounds of ranges as literals of exactly the column's type.

Source: sketch-safety rules 1.10: capture, use and every test of a range compare the plain column with the same typed literal.
"""

from __future__ import annotations

from imp_driver.parse.literals import literal_node
from imp_driver.parse.statement import DIALECT
from imp_driver.values.types import spark_type

_BARE = {"integer", "string", "date", "timestamp", "timestamp_ntz", "double"}
"""Types whose literal already has the column's type; for others a cast of the literal keeps Spark from casting the column."""


def bound_sql(value: object, type_name: str) -> str:
    """Return the literal of a bound for a column of a Delta type that arrow_type knows. Raises as ``literal_node``."""
    literal = literal_node(value).sql(dialect=DIALECT)
    return literal if type_name in _BARE else f"CAST({literal} AS {spark_type(type_name)})"
