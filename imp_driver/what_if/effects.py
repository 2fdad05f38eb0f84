"""A change of a table -> queries: of the rows that it takes, of those that it adds, and of those that stay.

The queries name tables as the change does; what these stand for is the caller's to put in (what_if/hypothesis.py). Each has the columns of
the table. Where a condition is unknown, nothing is done: ``NOT coalesce(c, FALSE)`` tells the rows that stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.parse.dialect import SparkText
from imp_driver.values.quoting import plain_text, quoted_name
from imp_driver.values.tables import WEIGHT_COLUMN, SchemaColumn
from imp_driver.values.types import arrow_type, spark_type


@dataclass(frozen=True, slots=True)
class Effect:
    """What a change does, as queries; empty ones have no rows.

    Attributes:
        pairs, touched: of a MERGE: a row for each pair of rows that a clause is for, and a row for each row of the table in such a pair.
            Where there are more pairs, Spark refuses the MERGE.
    """

    removed: str
    added: str
    kept: str
    pairs: str = ""
    touched: str = ""

    @property
    def signed(self) -> str:
        """The rows that change, their weights before them."""
        sides = ((-1, self.removed), (1, self.added))
        return " UNION ALL ".join(f"SELECT CAST({weight} AS BIGINT) AS {WEIGHT_COLUMN}, * FROM ({rows})" for weight, rows in sides if rows)

    @property
    def after(self) -> str:
        """All rows afterwards, in brackets."""
        return f"({' UNION ALL '.join(f'SELECT * FROM ({rows})' for rows in (self.kept, self.added) if rows)})"


class _WithoutBackslashes(SparkText):
    """Writes texts so that they may be read again (plan/check.py): of quotes, two for one."""

    class Generator(SparkText.Generator):
        """As SparkText's."""

        def literal_sql(self, expression: exp.Literal) -> str:
            return plain_text(expression.this) if expression.is_string else super().literal_sql(expression)

        def rawstring_sql(self, expression: exp.RawString) -> str:
            return plain_text(expression.this)


def sql(node: exp.Expr) -> str:
    return node.sql(dialect=_WithoutBackslashes)


def listed(values: Sequence[str], columns: Sequence[SchemaColumn]) -> str:
    return ", ".join(f"{value} AS {quoted_name(column.name)}" for value, column in zip(values, columns, strict=True))


def assigned(value: str, column: SchemaColumn) -> str:
    """Return a value as the table takes it. Raises NotSupportedError for a column whose type has no name here."""
    if column.type_name == "binary":
        return f"CAST({value} AS BINARY)"
    if arrow_type(column.type_name) is None:
        raise NotSupportedError(f"WHAT IF assigns nothing to the column {column.name} of type {column.type_name}.")
    return f"CAST({value} AS {spark_type(column.type_name)})"


def unknown_is_false(condition: str) -> str:
    return f"coalesce(({condition}), FALSE)"


def of_delete(tree: exp.Delete, columns: Sequence[SchemaColumn]) -> Effect:
    """Raises NotSupportedError for a form that is not Spark's."""
    _check_form(tree, "this", "where")
    target, rows = sql(tree.this), listed(_own(tree.this, columns), columns)
    where = tree.args.get("where")
    condition = "TRUE" if where is None else sql(where.this)
    removed = f"SELECT {rows} FROM {target} WHERE {condition}"
    return Effect(removed, "", f"SELECT {rows} FROM {target} WHERE NOT {unknown_is_false(condition)}")


def of_update(tree: exp.Update, columns: Sequence[SchemaColumn]) -> Effect:
    """Raises NotSupportedError for a form that is not followed, ProgrammingError for a column that there is not."""
    _check_form(tree, "this", "expressions", "where")
    target, own = sql(tree.this), _own(tree.this, columns)
    where = tree.args.get("where")
    condition = "TRUE" if where is None else sql(where.this)
    removed = f"SELECT {listed(own, columns)} FROM {target} WHERE {condition}"
    added = f"SELECT {listed(changed(own, tree.expressions, columns), columns)} FROM {target} WHERE {condition}"
    kept = f"SELECT {listed(own, columns)} FROM {target} WHERE NOT {unknown_is_false(condition)}"
    return Effect(removed, added, kept)


def of_insert(tree: exp.Insert, columns: Sequence[SchemaColumn], written: str = "") -> Effect:
    """Return what an INSERT of the rows of a query does.

    Args:
        written: the rows, in SQL, where they are not those of the tree.

    Raises NotSupportedError for a form that is not followed, ProgrammingError for columns that there are not.
    """
    _check_form(tree, "this", "expression", "source", "overwrite", "by_name", "with_")
    table, named = inserted(tree, columns)
    if table.args.get("partition"):
        raise NotSupportedError("WHAT IF follows no INSERT with PARTITION; name the column among the others.")
    _check_known(named, columns)
    if tree.args.get("by_name"):
        own = {name.lower(): quoted_name(name) for name in named}
        rows = f"({_rows(tree)}) AS __imp_q"
    else:
        own = {name.lower(): f"__imp_{place}" for place, name in enumerate(named)}
        rows = f"({written or _rows(tree)}) AS __imp_q ({', '.join(own.values())})"
    values = [assigned(own.get(each.name.lower(), "NULL"), each) for each in columns]
    added = f"SELECT {listed(values, columns)} FROM {rows}"
    everything = f"SELECT {listed(_own(table, columns), columns)} FROM {sql(table)}"
    return Effect(everything, added, "") if tree.args.get("overwrite") else Effect("", added, everything)


def inserted(tree: exp.Insert, columns: Sequence[SchemaColumn]) -> tuple[exp.Expr, list[str]]:
    """Return the table of an INSERT, and the columns that have its values, one after the other. Raises NotSupportedError."""
    if tree.args.get("by_name"):
        if not isinstance(tree.expression, exp.Select) or any(each.is_star for each in tree.expression.selects):
            raise NotSupportedError("WHAT IF follows an INSERT BY NAME of a SELECT that names its columns, without *.")
        return tree.this, [each.alias_or_name for each in tree.expression.selects]
    if isinstance(tree.this, exp.Schema):
        return tree.this.this, [each.name for each in tree.this.expressions]
    return tree.this, [each.name for each in columns]


def _rows(tree: exp.Insert) -> str:
    """Return the query whose rows are inserted."""
    source, common = tree.args.get("source") or None, tree.args.get("with_") or None
    rows = tree.expression.copy() if source is None else exp.select("*").from_(source.copy())
    if isinstance(rows, exp.Values):
        for each in list(rows.find_all(exp.Column, exp.Var)):
            if is_default(each):
                each.replace(exp.null())
    if common is not None:
        if rows.args.get("with_"):
            raise NotSupportedError("WHAT IF follows no INSERT with WITH before it and in its query; write one of them.")
        rows.set("with_", common.copy())
    return sql(rows)


def is_default(value: exp.Expr) -> bool:
    """Say whether a value is the word DEFAULT, which is NULL here: tables with other defaults are refused (what_if/hypothesis.py)."""
    if isinstance(value, exp.Column) and len(value.parts) == 1 and isinstance(value.this, exp.Identifier):
        return not value.this.quoted and value.name.upper() == "DEFAULT"
    return isinstance(value, exp.Var) and value.name.upper() == "DEFAULT"


def changed(own: Sequence[str], assignments: Sequence[exp.Expr], columns: Sequence[SchemaColumn]) -> list[str]:
    """Return the values of all columns once some are set. Raises ProgrammingError for a column that there is not."""
    pairs: dict[str, exp.Expr] = {}
    for each in assignments:
        column = each.this if isinstance(each, exp.EQ) else None
        if not isinstance(column, exp.Column) or len(column.parts) > 2:
            raise NotSupportedError(f"WHAT IF does not follow SET {sql(each)}.")
        pairs[column.name.lower()] = exp.null() if is_default(each.expression) else each.expression
    _check_known([*pairs], columns)
    return [
        assigned(sql(pairs[each.name.lower()]), each) if each.name.lower() in pairs else old for old, each in zip(own, columns, strict=True)
    ]


def _own(table: exp.Expr, columns: Sequence[SchemaColumn]) -> list[str]:
    name = quoted_name(table.alias_or_name)
    return [f"{name}.{quoted_name(each.name)}" for each in columns]


def _check_known(names: Sequence[str], columns: Sequence[SchemaColumn]) -> None:
    known = {each.name.lower() for each in columns}
    others = [each for each in names if each.lower() not in known]
    if others or len({each.lower() for each in names}) != len(names):
        what = f"no column {others[0]}" if others else "a column twice"
        raise ProgrammingError(f"The change names {what}; the table has {', '.join(each.name for each in columns)}.")


def _check_form(tree: exp.Expr, *known: str) -> None:
    others = [name for name, value in tree.args.items() if value and name not in known]
    if others:
        raise NotSupportedError(f"WHAT IF does not follow {tree.key.upper()} with {', '.join(others).upper()}: {sql(tree)[:200]}")
