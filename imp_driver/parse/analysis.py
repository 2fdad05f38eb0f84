"""Statement + schema of its table -> everything about it that does not depend on bound values; computed once per text and schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from imp_driver.delta.contract import SchemaColumn
from imp_driver.parse.plan import QueryBlock, build_block
from imp_driver.parse.safety import safe_attributes
from imp_driver.parse.statement import Statement, table_name
from imp_driver.parse.supported import Levels, Refused, read_levels
from imp_driver.parse.template import template_text
from imp_driver.parse.types import arrow_type
from imp_driver.reasons import Reason


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """A block with its safe attributes: indexes of group keys, which are plain columns named by ``attribute``."""

    block: QueryBlock
    columns: Mapping[str, pa.DataType | None]
    safe: tuple[int, ...]
    template_text: str

    def attribute(self, index: int) -> str:
        return self.block.keys[index].name


@lru_cache(maxsize=2_000)
def _levels(statement: Statement) -> Levels | Refused:
    try:
        if statement.tree is None:
            return Refused(Reason.NOT_PARSED)
        if "\\" in statement.text:
            return Refused(Reason.UNSUPPORTED_EXPRESSION, "a backslash, which parser and Spark could read differently")
        return read_levels(statement.tree)
    except Refused as refused:
        return refused


def levels_of(statement: Statement) -> Levels:
    """Return the chain of SELECTs of a query. Raises Refused, each time anew and without a growing traceback."""
    found = _levels(statement)
    if isinstance(found, Refused):
        raise Refused(found.reason, found.detail)
    return found


def scanned_table(levels: Levels) -> tuple[str, ...]:
    """Return the name of the only table that the chain reads."""
    return table_name(levels.scan)


@lru_cache(maxsize=2_000)
def _analysis(statement: Statement, schema: tuple[SchemaColumn, ...]) -> Analysis | Refused:
    try:
        levels = levels_of(statement)
        columns = {column.name: arrow_type(column.type_name) for column in schema}
        block = build_block(levels, tuple(columns))
        assert statement.tree is not None
        return Analysis(block, columns, safe_attributes(block, columns), template_text(statement.tree))
    except Refused as refused:
        return refused


def analyse(statement: Statement, schema: tuple[SchemaColumn, ...]) -> Analysis:
    """Analyse a query over a table of this schema. Raises Refused."""
    found = _analysis(statement, schema)
    if isinstance(found, Refused):
        raise Refused(found.reason, found.detail)
    return found
