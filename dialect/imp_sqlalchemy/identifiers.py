"""Names in SQL: which need backticks."""

from __future__ import annotations

import re

from sqlalchemy import exc
from sqlalchemy.sql.compiler import IdentifierPreparer

from imp_sqlalchemy.quoting import VARIABLE

# Reserved by the SQL standard mode of Spark, or not usable as an alias of a table.
_RESERVED = """
    all and anti any array as asc at authorization between both by case cast check collate column commit constraint create cross cube
    current current_date current_time current_timestamp current_user default delete desc describe distinct div drop else end escape except
    exists explain extract false fetch filter for foreign from full function global grant group grouping having ilike in inner insert
    intersect interval into is join lateral leading left like limit local map merge minus natural no not null of offset on only or order
    outer overlaps partition position primary qualify range recursive references regexp rlike right rollup row rows select semi session_user
    set some start struct table tablesample then time timestamp to trailing true truncate union unique unknown update user using values
    values when where window with within
"""


class ImpIdentifierPreparer(IdentifierPreparer):
    """Backticks, doubled inside names."""

    reserved_words = set(_RESERVED.split())  # noqa: RUF012 - SQLAlchemy declares a set
    # Not $, which also matches before a line break at the end; and not the letters beyond ASCII that fold to these.
    legal_characters = re.compile(r"[A-Z0-9_]+\Z", re.IGNORECASE | re.ASCII)

    def __init__(self, dialect: object) -> None:
        super().__init__(dialect, initial_quote="`", final_quote="`", escape_quote="`")  # type: ignore[arg-type]

    def quote_identifier(self, value: str) -> str:
        """Return a name in backticks. Raises CompileError for one that Spark would read as a variable."""
        if VARIABLE in value:
            raise exc.CompileError(f"Spark cannot be asked for {value!r}: {VARIABLE} begins a variable, whose value it would put there.")
        return super().quote_identifier(value)
