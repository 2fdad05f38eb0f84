"""Row conditions of a bound block as text and back, for states that outlive the process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from imp_driver.parse.statement import DIALECT
from imp_driver.plan.bind import BoundBlock, with_rows


def written_conditions(block: BoundBlock) -> tuple[str, ...] | None:
    """Return the conjuncts as SQL; None where the parser would not read exactly these conjuncts back."""
    return written_nodes(block.where_nodes)


def written_nodes(nodes: Sequence[exp.Expr]) -> tuple[str, ...] | None:
    """Return expressions as SQL; None where the parser would not read exactly these back."""
    texts = tuple(node.sql(dialect=DIALECT) for node in nodes)
    found = parsed(texts)
    # By their full structure: equality of nodes leaves away what it takes for spelling.
    return None if found is None or list(map(repr, found)) != list(map(repr, nodes)) else texts


def with_conditions(block: BoundBlock, texts: Sequence[str], columns: Mapping[str, pa.DataType | None]) -> BoundBlock | None:
    """Return a block with the row conditions of another one over the same source, as ``written_conditions`` gave them."""
    nodes = parsed(texts)
    return None if nodes is None else with_rows(block, tuple(nodes), columns)


def parsed(texts: Sequence[str]) -> list[exp.Expr] | None:
    """Return the expressions that some texts are; None where one of them is none."""
    found = []
    for text in texts:
        try:
            node = sqlglot.parse_one(text, read=DIALECT)
        except (SqlglotError, RecursionError, ValueError):
            return None
        if not isinstance(node, exp.Expr):
            return None
        found.append(node)
    return found
