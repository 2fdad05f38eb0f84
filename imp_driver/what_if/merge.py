"""A MERGE as queries: a pair of rows that match, a row of the source without a match, and a row of the table without one have clauses each.

The first clause whose condition holds is the one for a row. Source: Delta's MERGE, https://docs.delta.io/latest/delta-update.html.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.errors import NotSupportedError
from imp_driver.values.quoting import quoted_name
from imp_driver.values.tables import SchemaColumn
from imp_driver.what_if.effects import Effect, assigned, changed, listed, sql, unknown_is_false


@dataclass(frozen=True, slots=True)
class _Clause:
    """``values`` of the table's columns; None where the row is deleted."""

    condition: str
    values: Sequence[str] | None


def of_merge(tree: exp.Merge, columns: Sequence[SchemaColumn]) -> Effect:
    """Raises NotSupportedError for a form that is not followed, ProgrammingError for columns that there are not."""
    target, source, on = sql(tree.this), sql(tree.args["using"]), sql(tree.args["on"])
    names = [f"{quoted_name(tree.this.alias_or_name)}.{quoted_name(each.name)}" for each in columns]
    origin = quoted_name(tree.args["using"].alias_or_name)
    whens = tree.args["whens"].expressions
    matched = [_clause(each, names, origin, columns) for each in whens if each.args["matched"]]
    by_source = [_clause(each, names, origin, columns) for each in whens if not each.args["matched"] and each.args.get("source")]
    inserts = [_clause(each, names, origin, columns) for each in whens if not each.args["matched"] and not each.args.get("source")]
    rows = f"SELECT {listed(names, columns)} FROM {target}"
    # Joins: in a subquery, a column of its own that is called like a table around it would hide that.
    is_matched, is_touched = f"JOIN {source} ON {on}", f"JOIN {source} ON ({on}) AND ({_any(matched)})"
    added = [
        *_added(matched, f"{target} {is_matched}", columns),
        *_added(by_source, f"{target} LEFT ANTI {is_matched}", columns),
        *_added(inserts, f"{source} LEFT ANTI JOIN {target} ON {on}", columns),
    ]
    removed = [
        *[f"{rows} LEFT SEMI {is_touched}"] * bool(matched),
        *[f"{rows} LEFT ANTI {is_matched} WHERE {_any(by_source)}"] * bool(by_source),
    ]
    kept = [
        f"{rows} LEFT SEMI {is_matched}" + f" LEFT ANTI {is_touched}" * bool(matched),
        f"{rows} LEFT ANTI {is_matched}" + f" WHERE NOT ({_any(by_source)})" * bool(by_source),
    ]
    # A single clause that deletes without a condition does so once, however many rows match.
    may_repeat = not matched or (len(matched) == 1 and matched[0].values is None and matched[0].condition == "TRUE")
    # Delta counts all that match, whichever clause is for them.
    touching = () if may_repeat else (f"SELECT 1 AS one FROM {target} {is_matched}", f"{rows} LEFT SEMI {is_matched}")
    return Effect(_together(removed), _together(added), _together(kept), *touching)


def _together(queries: Sequence[str]) -> str:
    return " UNION ALL ".join(queries)


def _any(clauses: Sequence[_Clause]) -> str:
    return " OR ".join(unknown_is_false(each.condition) for each in clauses)


def _added(clauses: Sequence[_Clause], source: str, columns: Sequence[SchemaColumn]) -> list[str]:
    """Return queries of the rows that clauses make, each of those that no clause before it is for."""
    found: list[str] = []
    before: list[str] = []
    for each in clauses:
        if each.values is not None:
            mine = " AND ".join([*(f"NOT {other}" for other in before), unknown_is_false(each.condition)])
            found.append(f"SELECT {listed(each.values, columns)} FROM {source} WHERE {mine}")
        before.append(unknown_is_false(each.condition))
    return found


def _clause(when: exp.Expr, names: Sequence[str], origin: str, columns: Sequence[SchemaColumn]) -> _Clause:
    given = when.args.get("condition")
    condition, then = "TRUE" if given is None else sql(given), when.args["then"]
    if isinstance(then, exp.Update):
        if len(then.expressions) == 1 and isinstance(then.expressions[0], exp.Star):
            return _Clause(condition, [assigned(f"{origin}.{quoted_name(each.name)}", each) for each in columns])
        return _Clause(condition, changed(names, then.expressions, columns))
    if isinstance(then, exp.Insert):
        return _Clause(condition, _inserted(then, origin, columns))
    if then.name.upper() == "DELETE":
        return _Clause(condition, None)
    raise NotSupportedError(f"WHAT IF does not follow THEN {sql(then)} of a MERGE.")


def _inserted(then: exp.Insert, origin: str, columns: Sequence[SchemaColumn]) -> list[str]:
    if isinstance(then.this, exp.Star):
        return [assigned(f"{origin}.{quoted_name(each.name)}", each) for each in columns]
    values = then.expression.expressions if isinstance(then.expression, exp.Tuple) else []
    named = then.this.expressions if isinstance(then.this, exp.Tuple) else []
    if len(values) != len(named) or not named:
        raise NotSupportedError("WHAT IF follows an INSERT in a MERGE that names its columns, each with a value.")
    pairs = [exp.EQ(this=column, expression=value) for column, value in zip(named, values, strict=True)]
    return changed([assigned("NULL", each) for each in columns], pairs, columns)
