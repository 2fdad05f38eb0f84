"""SQLAlchemy's expressions -> Spark SQL."""

from __future__ import annotations

from typing import Any, NoReturn

from sqlalchemy import exc
from sqlalchemy.sql import operators, sqltypes
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import BindParameter

from imp_sqlalchemy import sparql
from imp_sqlalchemy.keys import check_given
from imp_sqlalchemy.quoting import quoted

_NO_FROM = "Spark has no UPDATE or DELETE with other tables; use a subquery in WHERE, or imp_sqlalchemy.Merge."


class ImpCompiler(SQLCompiler):
    """What Spark writes in another way than the SQL that SQLAlchemy assumes."""

    def visit_textclause(self, textclause: Any, add_to_result_map: Any = None, **options: Any) -> str:
        """Write SPARQL as it is: what looks like a marker of SQL is a name there, for which SQLAlchemy is to expect no value."""
        if not sparql.is_sparql(textclause.text):
            return str(super().visit_textclause(textclause, add_to_result_map, **options))  # type: ignore[no-untyped-call]
        if not self.stack:
            self.isplaintext = True
        if add_to_result_map is not None:
            add_to_result_map(None, None, (textclause,), sqltypes.NULLTYPE)
        return sparql.written(textclause.text)

    def visit_insert(self, insert_stmt: Any, *arguments: Any, **options: Any) -> str:
        """Raise CompileError where a part of the primary key would be NULL."""
        is_whole = not self.stack
        text: str = super().visit_insert(insert_stmt, *arguments, **options)  # type: ignore[no-untyped-call]
        if is_whole:
            check_given(insert_stmt.table, self._given(insert_stmt))
        return text

    def _given(self, statement: Any) -> list[str]:
        """Return the keys of the columns for which an INSERT has values."""
        state: Any = self.compile_state
        listed = [*(self.column_keys or ()), *(state._dict_parameters or ()), *(statement._select_names or ())]
        if self.column_keys is None and not listed:
            # A statement that is only written, and not to be run, has all columns.
            return list(statement.table.c.keys())
        return [getattr(each, "key", each) for each in listed]

    def visit_empty_set_expr(self, element_types: Any, **options: Any) -> str:
        # NULL, since Spark would turn the compared texts into numbers for a literal 1.
        return f"SELECT {', '.join(map(self._null, element_types))} WHERE 1 != 1"

    def visit_empty_set_op_expr(self, type_: Any, expand_op: Any, **options: Any) -> str:
        """What stands in the brackets of IN where there are no values: never true, for NOT IN always."""
        if expand_op not in (operators.in_op, operators.not_in_op):
            return self.visit_empty_set_expr(type_)
        nulls = ", ".join(map(self._null, type_))
        outcome = "OR (1 = 1" if expand_op is operators.not_in_op else "AND (1 != 1"
        return f"({nulls})) {outcome}" if len(type_) > 1 else f"{nulls}) {outcome}"

    def _null(self, kind: Any) -> str:
        """Spark compares structures only where their fields have the same types."""
        return "NULL" if kind._isnull else f"CAST(NULL AS {self.dialect.type_compiler_instance.process(kind)})"

    def visit_imp_ddl_text(self, element: Any, **options: Any) -> str:
        return quoted(self.dialect.type_compiler_instance.process(element.kind))

    def limit_clause(self, select: Any, **options: Any) -> str:
        text = ""
        if select._limit_clause is not None:
            text += f"\n LIMIT {self.process(select._limit_clause, **options)}"
        if select._offset_clause is not None:
            text += f"\n OFFSET {self.process(select._offset_clause, **options)}"
        return text

    def for_update_clause(self, select: Any, **options: Any) -> str:
        """Readers never wait for writers: a query reads one version of each table."""
        return ""

    def visit_now_func(self, function: Any, **options: Any) -> str:
        return "current_timestamp()"

    def visit_date_trunc_func(self, function: Any, **options: Any) -> str:
        """Write the unit into the text: with two markers the expression in the list is another one than that in GROUP BY."""
        unit, *others = function.clauses
        if isinstance(unit, BindParameter) and isinstance(unit.type, sqltypes.String):
            unit = unit.render_literal_execute()
        return f"date_trunc({', '.join(self.process(each, **options) for each in (unit, *others))})"

    def visit_regexp_match_op_binary(self, binary: Any, operator: Any, **options: Any) -> str:
        return self._regexp(binary, "RLIKE", options)

    def visit_not_regexp_match_op_binary(self, binary: Any, operator: Any, **options: Any) -> str:
        return self._regexp(binary, "NOT RLIKE", options)

    def _regexp(self, binary: Any, operator: str, options: dict[str, Any]) -> str:
        return f"{self.process(binary.left, **options)} {operator} {self._pattern(binary, binary.right, options)}"

    def visit_regexp_replace_op_binary(self, binary: Any, operator: Any, **options: Any) -> str:
        pattern, replacement = binary.right.clauses
        arguments = (self.process(binary.left, **options), self._pattern(binary, pattern, options), self.process(replacement, **options))
        return f"regexp_replace({', '.join(arguments)})"

    def _pattern(self, binary: Any, pattern: Any, options: dict[str, Any]) -> str:
        """Return a pattern with the flags in front, where Java's expressions have them."""
        text = self.process(pattern, **options)
        flags = binary.modifiers.get("flags")
        return text if flags is None else f"concat({quoted(f'(?{flags})')}, {text})"

    def visit_bitwise_xor_op_binary(self, binary: Any, operator: Any, **options: Any) -> str:
        return f"{self.process(binary.left, **options)} ^ {self.process(binary.right, **options)}"

    def visit_json_getitem_op_binary(self, binary: Any, operator: Any, **options: Any) -> str:
        return self._json_path(binary, options)

    def visit_json_path_getitem_op_binary(self, binary: Any, operator: Any, **options: Any) -> str:
        return self._json_path(binary, options)

    def _json_path(self, binary: Any, options: dict[str, Any]) -> str:
        """Read a value as the type that is asked for; JSON stays JSON, with the quotes around a text that get_json_object drops."""
        arguments = f"parse_json({self.process(binary.left, **options)}), {self.process(binary.right, **options)}"
        if isinstance(binary.type, sqltypes.JSON):
            return f"to_json(variant_get({arguments}, 'variant'))"
        kind = sqltypes.BigInteger() if isinstance(binary.type, sqltypes.Integer) else binary.type
        return f"variant_get({arguments}, {quoted(self.dialect.type_compiler_instance.process(kind))})"

    def visit_getitem_binary(self, binary: Any, operator: Any, **options: Any) -> str:
        return f"{self.process(binary.left, **options)}[{self.process(binary.right, **options)}]"

    def update_from_clause(self, update_stmt: Any, from_table: Any, extra_froms: Any, from_hints: Any, **options: Any) -> NoReturn:
        raise exc.CompileError(_NO_FROM)

    def delete_extra_from_clause(self, delete_stmt: Any, from_table: Any, extra_froms: Any, from_hints: Any, **options: Any) -> NoReturn:
        raise exc.CompileError(_NO_FROM)

    def returning_clause(self, stmt: Any, returning_cols: Any, *, populate_result_map: bool, **options: Any) -> NoReturn:
        raise exc.CompileError("Spark has no RETURNING; ask for the rows with a SELECT.")

    def visit_sequence(self, sequence: Any, **options: Any) -> NoReturn:
        raise exc.CompileError("Spark has no sequences; use Identity() on a BIGINT column, or a default made in Python.")
