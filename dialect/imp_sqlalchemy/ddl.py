"""Definitions: Delta's clauses of a table, and constraints as properties of it (constraints.py)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NoReturn

from sqlalchemy import BigInteger, Integer, exc, schema
from sqlalchemy.sql.compiler import DDLCompiler

from imp_sqlalchemy import constraints
from imp_sqlalchemy.keys import identity_of
from imp_sqlalchemy.quoting import quoted, unquoted

TABLE_OPTIONS = {
    "using": "DELTA",
    "partitioned_by": None,
    "cluster_by": None,
    "properties": None,
    "location": None,
}
"""Arguments of Table(..) with the prefix ``imp_``, and their defaults."""
_MAPPED_CHARACTERS = frozenset(" ,;{}()\n\t=")
"""Characters in names of columns that need Delta's column mapping."""
NAME_MAPPING = {"delta.columnMapping.mode": "name"}
COLUMN_DEFAULTS = {"delta.feature.allowColumnDefaults": "supported"}


class ImpDDLCompiler(DDLCompiler):
    """Keys, unique columns and indexes become properties of the table; CHECK becomes Delta's own constraint."""

    def create_table_constraints(self, table: Any, _include_foreign_key_constraints: Any = None, **options: Any) -> str:
        self._foreign_keys = table.foreign_key_constraints if _include_foreign_key_constraints is None else _include_foreign_key_constraints
        return ""

    def visit_column_check_constraint(self, constraint: Any, **options: Any) -> str:
        return ""

    def post_create_table(self, table: Any) -> str:
        options = table.dialect_options["imp"]
        if re.fullmatch(r"[A-Za-z_][\w.]*", str(options["using"])) is None:
            raise exc.CompileError(f"imp_using must be the name of a format, not {options['using']!r}.")
        clauses = [f"USING {options['using']}"]
        clauses += self._columns("PARTITIONED BY", options["partitioned_by"])
        clauses += self._columns("CLUSTER BY", options["cluster_by"])
        if options["location"]:
            clauses.append(f"LOCATION {quoted(options['location'])}")
        if table.comment is not None:
            clauses.append(f"COMMENT {quoted(table.comment)}")
        properties = self._properties(table) | dict(options["properties"] or {})
        if properties:
            clauses.append(f"TBLPROPERTIES ({_assignments(properties)})")
        return "".join(f"\n{clause}" for clause in clauses)

    def _columns(self, clause: str, names: str | Iterable[str] | None) -> list[str]:
        if not names:
            return []
        listed = [names] if isinstance(names, str) else names
        return [f"{clause} ({', '.join(map(self.preparer.quote, listed))})"]

    def _properties(self, table: Any) -> dict[str, str]:
        found: dict[str, str] = {}
        if any(_MAPPED_CHARACTERS & set(column.name) for column in table.columns):
            found |= NAME_MAPPING
        if any(self.get_column_default_string(column) is not None for column in table.columns):
            found |= COLUMN_DEFAULTS
        column_checks = [constraint for column in table.columns for constraint in column.constraints]
        for constraint in [*table._sorted_constraints, *column_checks]:
            if not constraint._should_create_for_compiler(self):
                continue
            if isinstance(constraint, schema.ForeignKeyConstraint) and constraint not in self._foreign_keys:
                continue
            found |= self._constraint(constraint, found)
        return found

    def _constraint(self, constraint: Any, others: Iterable[str] = ()) -> dict[str, str]:
        """Return the property that holds a constraint; nothing for a primary key without columns."""
        name = self._name(constraint)
        if isinstance(constraint, schema.CheckConstraint):
            number = sum(each.startswith(constraints.CHECK) for each in others) + 1
            text = self._text(constraint.sqltext)
            return {f"{constraints.CHECK}{name or f'check_{number}'}": text}
        columns = tuple(column.name for column in constraint.columns)
        if isinstance(constraint, schema.PrimaryKeyConstraint):
            return {constraints.PRIMARY_KEY: constraints.written(constraints.Key(name, columns))} if columns else {}
        if isinstance(constraint, schema.UniqueConstraint):
            key = constraints.Key(name, columns, unique=True)
            return {constraints.property_of(constraints.UNIQUE, name, columns): constraints.written(key)}
        if isinstance(constraint, schema.ForeignKeyConstraint):
            return {constraints.property_of(constraints.FOREIGN_KEY, name, columns): constraints.written(self._reference(constraint, name))}
        raise exc.CompileError(f"Spark has no constraint like {type(constraint).__name__}.")

    def _reference(self, constraint: Any, name: str | None) -> constraints.Reference:
        referred = [element.column for element in constraint.elements]
        target = referred[0].table
        kept = {"ondelete": constraint.ondelete, "onupdate": constraint.onupdate}
        return constraints.Reference(
            name,
            tuple(column.name for column in constraint.columns),
            self.preparer.schema_for_object(target),
            target.name,
            tuple(column.name for column in referred),
            tuple((option, value) for option, value in kept.items() if value is not None and value.upper() != "NO ACTION"),
        )

    def _name(self, constraint: Any) -> str | None:
        if constraint.name is None:
            return None
        formatted = self.preparer.format_constraint(constraint)
        return None if formatted is None else unquoted(str(formatted))

    def get_column_specification(self, column: Any, **options: Any) -> str:
        identity = identity_of(column)
        # Delta has identity columns of this type only.
        type_ = BigInteger() if identity is not None and isinstance(column.type, Integer) else column.type
        kind = self.dialect.type_compiler_instance.process(type_, type_expression=column)
        parts = [self.preparer.format_column(column), kind]
        if not column.nullable:
            parts.append("NOT NULL")
        default = self.get_column_default_string(column)
        if default is not None:
            parts.append(f"DEFAULT {default}")
        if column.computed is not None:
            parts.append(self.process(column.computed))
        if identity is not None:
            parts.append(self.visit_identity_column(identity))
        if column.comment is not None:
            parts.append(f"COMMENT {quoted(column.comment)}")
        return " ".join(parts)

    def visit_computed_column(self, generated: Any, **options: Any) -> str:
        return f"GENERATED ALWAYS AS ({self._text(generated.sqltext)})"

    def _text(self, expression: Any) -> str:
        """Return an expression over the columns of one table."""
        return str(self.sql_compiler.process(expression, include_table=False, literal_binds=True))

    def visit_identity_column(self, identity: Any, **options: Any) -> str:
        settings = {"START WITH": identity.start, "INCREMENT BY": identity.increment}
        listed = " ".join(f"{name} {value}" for name, value in settings.items() if value is not None)
        return f"GENERATED {'ALWAYS' if identity.always else 'BY DEFAULT'} AS IDENTITY" + (f" ({listed})" if listed else "")

    def create_table_select_suffixes(self, element: Any, type_: str, **options: Any) -> str:
        if type_ == "view":
            # A materialized one is the driver's (docs/views.md); names and text need nothing of their own.
            return ""
        if element.temporary:
            raise exc.CompileError("Spark has no temporary tables; make a temporary view.")
        return "USING DELTA"

    def visit_add_constraint(self, create: Any, **options: Any) -> str:
        constraint = create.element
        table = self.preparer.format_table(constraint.table)
        if isinstance(constraint, schema.CheckConstraint):
            if self._name(constraint) is None:
                raise exc.CompileError("ADD CONSTRAINT .. CHECK needs a name.")
            text = self._text(constraint.sqltext)
            return f"ALTER TABLE {table} ADD CONSTRAINT {self.preparer.format_constraint(constraint)} CHECK ({text})"
        return f"ALTER TABLE {table} SET TBLPROPERTIES ({_assignments(self._constraint(constraint))})"

    def visit_drop_constraint(self, drop: Any, **options: Any) -> str:
        constraint = drop.element
        if not isinstance(constraint, schema.CheckConstraint):
            return self._unset(constraint.table, self._constraint(constraint), drop.if_exists)
        if self._name(constraint) is None:
            raise exc.CompileError(f"DROP CONSTRAINT needs a name, which {constraint!r} has not.")
        table, name = self.preparer.format_table(constraint.table), self.preparer.format_constraint(constraint)
        return f"ALTER TABLE {table} DROP CONSTRAINT {'IF EXISTS ' if drop.if_exists else ''}{name}"

    def visit_create_index(self, create: Any, include_schema: Any = False, include_table_schema: Any = True, **options: Any) -> str:
        index = create.element
        self._verify_index_table(index)
        if index.name is None:
            raise exc.CompileError("An index needs a name.")
        if any(not isinstance(each, schema.Column) for each in index.expressions):
            raise exc.CompileError(f"The index {index.name} is on an expression: Delta has no indexes, only columns can be noted.")
        key = constraints.Key(index.name, tuple(column.name for column in index.columns), bool(index.unique))
        noted = {f"{constraints.INDEX}{index.name}": constraints.written(key)}
        return f"ALTER TABLE {self.preparer.format_table(index.table)} SET TBLPROPERTIES ({_assignments(noted)})"

    def visit_drop_index(self, drop: Any, **options: Any) -> str:
        index = drop.element
        if index.name is None:
            raise exc.CompileError("An index needs a name to be dropped.")
        return self._unset(index.table, [f"{constraints.INDEX}{index.name}"], drop.if_exists)

    def _unset(self, table: Any, names: Iterable[str], if_exists: bool) -> str:
        condition = "IF EXISTS " if if_exists else ""
        return f"ALTER TABLE {self.preparer.format_table(table)} UNSET TBLPROPERTIES {condition}({', '.join(map(quoted, names))})"

    def visit_set_table_comment(self, create: Any, **options: Any) -> str:
        return f"COMMENT ON TABLE {self.preparer.format_table(create.element)} IS {quoted(create.element.comment)}"

    def visit_set_column_comment(self, create: Any, **options: Any) -> str:
        return self._column_comment(create.element, create.element.comment)

    def visit_drop_column_comment(self, drop: Any, **options: Any) -> str:
        return self._column_comment(drop.element, "")

    def _column_comment(self, column: Any, comment: str) -> str:
        table, name = self.preparer.format_table(column.table), self.preparer.format_column(column)
        return f"ALTER TABLE {table} ALTER COLUMN {name} COMMENT {quoted(comment)}"

    def visit_create_sequence(self, create: Any, prefix: Any = None, **options: Any) -> NoReturn:
        raise exc.CompileError("Spark has no sequences; use Identity() on a BIGINT column.")

    def visit_drop_sequence(self, drop: Any, **options: Any) -> NoReturn:
        raise exc.CompileError("Spark has no sequences.")


def _assignments(properties: dict[str, str]) -> str:
    return ", ".join(f"{quoted(name)} = {quoted(str(value))}" for name, value in sorted(properties.items()))
