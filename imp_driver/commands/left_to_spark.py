"""Statements that are Spark's own, with a recursion by UNION, which Spark does not know: what to write in their place."""

from __future__ import annotations

from imp_driver.errors import NotSupportedError
from imp_driver.parse.statement import Statement, StatementKind, parse
from imp_driver.parse.within import with_recursive
from imp_driver.plan.recursive_form import is_recursive

_BEGIN = "WITH RECURSIVE with UNION is computed by this driver alone, and this statement is Spark's own, which knows UNION ALL only"
_EXPLAINED = "EXPLAIN INCREMENTAL and EXPLAIN SKETCH explain such a query"
_MADE = (
    "CREATE INCREMENTAL VIEW v AS the query makes a view of it, CREATE MATERIALIZED VIEW a table of its rows, "
    "which any statement of Spark may read then"
)


def check_recursion(statement: Statement) -> None:
    """Raise NotSupportedError for a statement that would have Spark compute a recursion by UNION, before anything of it is done."""
    if any(is_recursive(parse(query).tree) for query in with_recursive(statement.text)):
        raise NotSupportedError(f"{_BEGIN}. {_EXPLAINED if statement.kind is StatementKind.INSPECTION else _MADE}.")
