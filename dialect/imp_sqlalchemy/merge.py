"""MERGE: rows of a source into a table, updating, deleting or inserting by a condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from sqlalchemy import exc
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import Table
from sqlalchemy.sql import coercions, roles
from sqlalchemy.sql.base import Executable
from sqlalchemy.sql.elements import ClauseElement, ColumnElement
from sqlalchemy.sql.selectable import FromClause

Values = Mapping[str, Any]
_Branch: TypeAlias = "tuple[str, ColumnElement[bool] | None, str, tuple[tuple[str, ColumnElement[Any]], ...] | None]"


class Merge(Executable, ClauseElement):
    """``Merge(target, source, on).when_matched_update({"v": source.c.v}).when_not_matched_insert({...})``.

    Branches are tried in the order in which they were added. Each method returns a new statement.
    """

    inherit_cache = False
    is_dml = True

    def __init__(self, target: Table, source: FromClause, on: ColumnElement[bool]) -> None:
        self.target, self.source, self.on = target, source, on
        self._branches: tuple[_Branch, ...] = ()

    def when_matched_update(self, values: Values, condition: ColumnElement[bool] | None = None) -> Merge:
        return self._with("MATCHED", condition, "UPDATE", values)

    def when_matched_delete(self, condition: ColumnElement[bool] | None = None) -> Merge:
        return self._with("MATCHED", condition, "DELETE", None)

    def when_not_matched_insert(self, values: Values, condition: ColumnElement[bool] | None = None) -> Merge:
        return self._with("NOT MATCHED", condition, "INSERT", values)

    def when_not_matched_by_source_update(self, values: Values, condition: ColumnElement[bool] | None = None) -> Merge:
        return self._with("NOT MATCHED BY SOURCE", condition, "UPDATE", values)

    def when_not_matched_by_source_delete(self, condition: ColumnElement[bool] | None = None) -> Merge:
        return self._with("NOT MATCHED BY SOURCE", condition, "DELETE", None)

    def _with(self, when: str, condition: ColumnElement[bool] | None, action: str, values: Values | None) -> Merge:
        pairs = None if values is None else tuple((name, self._value(name, value)) for name, value in values.items())
        merged = Merge(self.target, self.source, self.on)
        merged._branches = (*self._branches, (when, condition, action, pairs))
        return merged

    def _value(self, name: str, value: Any) -> ColumnElement[Any]:
        if name not in self.target.c:
            raise exc.ArgumentError(f"The table {self.target.name} has no column {name!r}; it has {', '.join(self.target.c.keys())}.")
        found: ColumnElement[Any] = coercions.expect(roles.ExpressionElementRole, value, type_=self.target.c[name].type)
        return found


@compiles(Merge, "imp")
def _compile(merge: Merge, compiler: Any, **options: Any) -> str:
    if not merge._branches:
        raise exc.CompileError("A Merge needs at least one branch, as by when_matched_update(..).")
    options.pop("asfrom", None)
    target = compiler.process(merge.target, asfrom=True, **options)
    source = compiler.process(merge.source, asfrom=True, **options)
    parts = [f"MERGE INTO {target}\nUSING {source}\nON {compiler.process(merge.on, **options)}"]
    for when, condition, action, values in merge._branches:
        text = f"WHEN {when}"
        if condition is not None:
            text += f" AND {compiler.process(condition, **options)}"
        parts.append(f"{text} THEN {_action(compiler, action, values, options)}")
    return "\n".join(parts)


def _action(compiler: Any, action: str, values: tuple[tuple[str, ColumnElement[Any]], ...] | None, options: dict[str, Any]) -> str:
    if values is None:
        return action
    names = [compiler.preparer.quote(name) for name, _ in values]
    expressions = [compiler.process(value, **options) for _, value in values]
    if action == "UPDATE":
        return "UPDATE SET " + ", ".join(f"{name} = {value}" for name, value in zip(names, expressions, strict=True))
    return f"INSERT ({', '.join(names)}) VALUES ({', '.join(expressions)})"
