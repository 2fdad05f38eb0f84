"""Chain of SELECTs -> one aggregation block over base columns: derived tables unfolded, aliases and ordinals resolved.

In the block every column is a base column by its exact name. What lies above the block needs no analysis: the block's whole output is
covered by its sketch (it is pinned, sketch-safety rules 1.6), so it is the same bag with and without the range filter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.parse.supported import Levels, Refused
from imp_driver.reasons import Reason


@dataclass(frozen=True, slots=True, eq=False)
class OrderItem:
    expression: exp.Expr
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True, eq=False)
class QueryBlock:
    """``SELECT .. FROM table WHERE where GROUP BY keys HAVING having ORDER BY order LIMIT limit OFFSET offset`` over base columns.

    ``where`` and ``having`` are conjuncts; markers are still markers. ``limit`` is None without a top-k.
    """

    keys: tuple[exp.Expr, ...]
    where: tuple[exp.Expr, ...]
    having: tuple[exp.Expr, ...]
    order: tuple[OrderItem, ...]
    limit: exp.Expr | None
    offset: exp.Expr | None


Lookup = Callable[[exp.Column], exp.Expr]


@dataclass(frozen=True, slots=True, eq=False)
class _Scope:
    """Names visible to one SELECT: qualifiers of its source and what each lower-case column name stands for (None: ambiguous)."""

    qualifiers: frozenset[str]
    names: Mapping[str, exp.Expr | None]

    def lookup(self, column: exp.Column) -> exp.Expr:
        if column.table and column.table.lower() not in self.qualifiers:
            raise Refused(Reason.QUALIFIED_COLUMN, column.sql(dialect="spark"))
        found = self.names.get(column.name.lower())
        if found is None:
            known = column.name.lower() in self.names
            raise Refused(Reason.AMBIGUOUS_NAME, f"{column.name} ({'defined twice' if known else 'not a column of its source'})")
        return found.copy()


def base_column(name: str) -> exp.Column:
    return exp.Column(this=exp.to_identifier(name, quoted=True))


def build_block(levels: Levels, columns: tuple[str, ...]) -> QueryBlock:
    """Unfold the chain down to the columns of its table.

    Raises:
        Refused: there is no such block, or a name cannot be resolved with certainty.
    """
    lowered = [name.lower() for name in columns]
    if len(set(lowered)) != len(lowered):
        raise Refused(Reason.AMBIGUOUS_NAME, "two columns of the table differ only in case")
    names: Mapping[str, exp.Expr | None] = {name.lower(): base_column(name) for name in columns}
    where: list[exp.Expr] = []
    selects = list(reversed(levels.selects))
    for depth, select in enumerate(selects):
        scope = _Scope(_qualifiers(select), names)
        if select.args.get("where"):
            where += _conjuncts(_substitute(select.args["where"].this, scope.lookup))
        if _aggregates(select):
            return _block(select, scope, tuple(where), selects[depth + 1 :])
        if select.args.get("distinct") or select.args.get("limit") or select.args.get("offset"):
            raise Refused(
                Reason.NO_AGGREGATION if depth == len(selects) - 1 else Reason.UNSUPPORTED_EXPRESSION, "DISTINCT or LIMIT below the groups"
            )
        names = _outputs(select, scope.lookup, names)
    raise Refused(Reason.NO_AGGREGATION)


def _aggregates(select: exp.Select) -> bool:
    if select.args.get("group") or select.args.get("having"):
        return True
    return any(item.find(exp.AggFunc) is not None for item in select.expressions)


def _block(select: exp.Select, scope: _Scope, where: tuple[exp.Expr, ...], above: list[exp.Select]) -> QueryBlock:
    outputs = _outputs(select, scope.lookup, scope.names)
    keys = _keys(select, scope, outputs)
    group_lookup = _group_lookup(scope, outputs)
    having: list[exp.Expr] = []
    if select.args.get("having"):
        having += _conjuncts(_substitute_group(select.args["having"].this, group_lookup, scope.lookup))
    order: tuple[OrderItem, ...] = ()
    limit = offset = None
    collecting = True
    for depth, level in enumerate([select, *above]):
        if depth:
            outer = _Scope(_qualifiers(level), outputs)
            collecting = collecting and not _aggregates(level)
            if collecting:
                if level.args.get("where"):
                    having += _conjuncts(_substitute(level.args["where"].this, outer.lookup))
                outputs = _outputs(level, outer.lookup, outputs)
                group_lookup = _group_lookup(outer, outputs)
        if level.args.get("limit") or level.args.get("offset"):
            if not collecting or level.args.get("distinct"):
                raise Refused(Reason.ORDER_NOT_TOTAL, "LIMIT above DISTINCT, a second LIMIT or a second aggregation")
            order = _order(level, group_lookup)
            limit, offset = _limit(level)
            collecting = False
        collecting = collecting and not level.args.get("distinct")
    return QueryBlock(keys, where, tuple(having), order, limit, offset)


def _keys(select: exp.Select, scope: _Scope, outputs: Mapping[str, exp.Expr | None]) -> tuple[exp.Expr, ...]:
    group = select.args.get("group")
    if group is None:
        raise Refused(Reason.SCALAR_AGGREGATE)
    if any(group.args.get(name) for name in ("rollup", "cube", "grouping_sets", "totals")):
        raise Refused(Reason.GROUPING_SETS)
    if group.args.get("all"):
        items = [item.unalias() for item in select.expressions if item.find(exp.AggFunc) is None]
    else:
        items = [_ordinal(item, select) for item in group.expressions]
    if not items:
        raise Refused(Reason.SCALAR_AGGREGATE)

    def lookup(column: exp.Column) -> exp.Expr:
        # Spark takes a column of the source first and an alias of the SELECT list only where there is none.
        alias = outputs.get(column.name.lower())
        if not column.table and column.name.lower() not in scope.names and alias is not None:
            return alias.copy()
        return scope.lookup(column)

    keys = tuple(_substitute(item, lookup) for item in items)
    if any(key.find(exp.AggFunc) for key in keys):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "an aggregate as group key")
    return keys


def _ordinal(item: exp.Expr, select: exp.Select) -> exp.Expr:
    if not (isinstance(item, exp.Literal) and not item.is_string):
        return item
    place = int(str(item.this)) if str(item.this).isdigit() else 0
    if not 1 <= place <= len(select.expressions) or any(isinstance(each.unalias(), exp.Star) for each in select.expressions):
        raise Refused(Reason.AMBIGUOUS_NAME, f"position {item.this}")
    found: exp.Expr = select.expressions[place - 1].unalias()
    return found


def _order(level: exp.Select, lookup: Lookup) -> tuple[OrderItem, ...]:
    order = level.args.get("order")
    if order is None:
        raise Refused(Reason.LIMIT_WITHOUT_ORDER)
    items: list[OrderItem] = []
    for item in order.expressions:
        if not isinstance(item, exp.Ordered) or item.args.get("with_fill"):
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, "ORDER BY ALL")
        # Unlike in HAVING, an alias wins even inside an aggregate here; a name that is a column too is refused by the look-up.
        expression = _substitute_group(_ordinal(item.this, level), lookup, lookup)
        items.append(OrderItem(expression, bool(item.args.get("desc")), bool(item.args.get("nulls_first"))))
    return tuple(items)


def _limit(level: exp.Select) -> tuple[exp.Expr, exp.Expr | None]:
    limit, offset = level.args.get("limit"), level.args.get("offset")
    if limit is None or not isinstance(limit, exp.Limit) or limit.args.get("limit_options"):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "OFFSET without LIMIT, or FETCH")
    return limit.expression, None if offset is None else offset.expression


def _group_lookup(scope: _Scope, outputs: Mapping[str, exp.Expr | None]) -> Lookup:
    """Resolve a name in HAVING or ORDER BY outside aggregates: alias and source column must not disagree."""

    def lookup(column: exp.Column) -> exp.Expr:
        name = column.name.lower()
        if column.table or name not in outputs:
            return scope.lookup(column)
        found = outputs[name]
        if found is None or (scope.names.get(name) is not None and scope.names[name] != found):
            raise Refused(Reason.AMBIGUOUS_NAME, column.name)
        return found.copy()

    return lookup


def _outputs(select: exp.Select, lookup: Lookup, names: Mapping[str, exp.Expr | None]) -> dict[str, exp.Expr | None]:
    """Map each output name of a SELECT to what it stands for; a name given twice stands for nothing certain."""
    outputs: dict[str, exp.Expr | None] = {}
    for item in select.expressions:
        value = item.unalias()
        star = value.this if isinstance(value, exp.Column) else value
        if isinstance(star, exp.Star):
            if any(star.args.get(name) for name in ("except_", "except", "replace", "rename")):
                raise Refused(Reason.UNSUPPORTED_EXPRESSION, "* EXCEPT")
            for name, expression in names.items():
                outputs[name] = None if name in outputs else expression
            continue
        if isinstance(item, (exp.Alias, exp.Column)):
            name = item.alias_or_name.lower()
            outputs[name] = None if name in outputs else _named(value, lookup)
    return outputs


def _named(value: exp.Expr, lookup: Lookup) -> exp.Expr | None:
    """Substitute an output; one that refers to another alias of its own list is left without meaning, so that only its use is refused."""
    try:
        return _substitute(value, lookup)
    except Refused:
        return None


def _qualifiers(select: exp.Select) -> frozenset[str]:
    source = select.args["from_"].this
    alias = source.alias
    if alias:
        return frozenset({alias.lower()})
    return frozenset({source.name.lower()}) if isinstance(source, exp.Table) else frozenset()


def _conjuncts(expression: exp.Expr) -> list[exp.Expr]:
    inner = expression.unnest()
    if isinstance(inner, exp.And):
        return [*_conjuncts(inner.left), *_conjuncts(inner.right)]
    return [inner]


def _substitute(expression: exp.Expr, lookup: Lookup) -> exp.Expr:
    def replace(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        return _bracketed(lookup(node))

    return expression.transform(replace)


def _bracketed(found: exp.Expr) -> exp.Expr:
    """Bracket what takes a column's place: AND and OR are functions to the parser, yet written between their operands."""
    needs_none = isinstance(found, (exp.Column, exp.Func, exp.Literal, exp.Paren)) and not isinstance(found, exp.Binary)
    return found if needs_none else exp.Paren(this=found)


def _substitute_group(expression: exp.Expr, lookup: Lookup, inside: Lookup) -> exp.Expr:
    """Substitute where names mean outputs of the block, but source columns inside its aggregate functions."""

    def replace(node: exp.Expr) -> exp.Expr:
        return _substitute(node, inside) if isinstance(node, exp.AggFunc) else node

    marked = expression.transform(replace)
    arguments = {id(column) for aggregate in marked.find_all(exp.AggFunc) for column in aggregate.find_all(exp.Column)}

    def replace_outside(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or id(node) in arguments:
            return node
        return _bracketed(lookup(node))

    return marked.transform(replace_outside, copy=False)
