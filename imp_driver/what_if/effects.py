"""A change of a table -> queries: of the rows that it takes, of those that it adds, and of those that stay.

The queries name tables as the change does; what these stand for is the caller's to put in (what_if/hypothesis.py). Each has the columns of
the table. Where a condition is unknown, nothing is done: ``NOT coalesce(c, FALSE)`` tells the rows that stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.parse.statement import DIALECT
from imp_driver.values.quoting import quoted_name
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


def sql(node: exp.Expr) -> str:
    return node.sql(dialect=DIALECT)


def listed(values: Sequence[str], columns: Sequence[SchemaColumn]) -> str:
    return ", ".join(f"{value} AS {quoted_name(column.name)}" for value, column in zip(values, columns, strict=True))


def assigned(value: str, column: SchemaColumn) -> str:
    """Return a value as the table takes it. Raises NotSupportedError for a column whose type has no name here."""
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


def of_insert(tree: exp.Insert, columns: Sequence[SchemaColumn]) -> Effect:
    """Return what an INSERT of the rows of a query does.

    Raises NotSupportedError for a form that is not followed, ProgrammingError for columns that there are not.
    """
    _check_form(tree, "this", "expression", "overwrite", "by_name")
    table = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    if table.args.get("partition"):
        raise NotSupportedError("WHAT IF follows no INSERT with PARTITION; name the column among the others.")
    if tree.args.get("by_name"):
        named = [expression.alias_or_name for expression in tree.expression.selects]
        own = {name.lower(): quoted_name(name) for name in named}
        rows = f"({sql(tree.expression)}) AS __imp_q"
    else:
        named = [each.name for each in tree.this.expressions] if isinstance(tree.this, exp.Schema) else [each.name for each in columns]
        own = {name.lower(): f"__imp_{place}" for place, name in enumerate(named)}
        rows = f"({sql(tree.expression)}) AS __imp_q ({', '.join(own.values())})"
    _check_known(named, columns)
    values = [assigned(own.get(each.name.lower(), "NULL"), each) for each in columns]
    added = f"SELECT {listed(values, columns)} FROM {rows}"
    everything = f"SELECT {listed(_own(table, columns), columns)} FROM {sql(table)}"
    return Effect(everything, added, "") if tree.args.get("overwrite") else Effect("", added, everything)


def changed(own: Sequence[str], assignments: Sequence[exp.Expr], columns: Sequence[SchemaColumn]) -> list[str]:
    """Return the values of all columns once some are set. Raises ProgrammingError for a column that there is not."""
    pairs: dict[str, exp.Expr] = {}
    for each in assignments:
        column = each.this if isinstance(each, exp.EQ) else None
        if not isinstance(column, exp.Column) or len(column.parts) > 2:
            raise NotSupportedError(f"WHAT IF does not follow SET {sql(each)}.")
        if isinstance(each.expression, exp.Column) and each.expression.name.upper() == "DEFAULT":
            raise NotSupportedError("WHAT IF does not know the default values of columns.")
        pairs[column.name.lower()] = each.expression
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
