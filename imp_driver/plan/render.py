"""Plan -> SQL: a query whose columns are the attributes' identifiers, over relations that the caller names per occurrence.

With the changes of one occurrence in its place the query gives signed rows: the weight is carried through every operator that is linear
in it (IMP paper 5.2.1-5.2.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from imp_driver.parse.statement import DIALECT
from imp_driver.plan.attributes import identifiers
from imp_driver.plan.expressions import expressions_of
from imp_driver.plan.linear import linear_input
from imp_driver.plan.nodes import (
    Aggregate,
    Attribute,
    Distinct,
    Filter,
    Fixpoint,
    Join,
    JoinKind,
    Merge,
    OneRow,
    OrderKey,
    Plan,
    Project,
    Recurrence,
    Scalar,
    Scan,
    SemiJoin,
    SetOperation,
    Sort,
    TopK,
    UnionAll,
    Window,
    children,
)
from imp_driver.reasons import Reason
from imp_driver.values.quoting import quoted_name
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import WEIGHT_COLUMN

RelationOf = Callable[[Scan], str]
_WEIGHT = f"`{WEIGHT_COLUMN}`"
quoted = quoted_name


def read_identifiers(plan: Plan) -> frozenset[str]:
    """Return the attributes that any operator of a plan reads; operators without expressions read all their columns."""
    own = frozenset(name for each in expressions_of(plan) for name in identifiers(each))
    if isinstance(plan, (UnionAll, SetOperation)):
        own |= {attribute.identifier for child in children(plan) for attribute in child.output}
    if isinstance(plan, (Distinct, Scalar)):
        own |= {attribute.identifier for child in children(plan) for attribute in child.output}
    return own.union(*(read_identifiers(child) for child in children(plan)))


@dataclass(frozen=True, slots=True)
class Renderer:
    """Renders the plans of one query.

    Attributes:
        relation: gives the SQL relation of a scan, with the table's columns.
        wanted: attributes that are read by anyone; other columns of tables are left out.
        changed: the occurrence whose relation holds signed rows with WEIGHT_COLUMN; None when there is none.
        given: relations, or queries in brackets, with the rows of some aggregations and recursive relations, by the identifier of the
            first attribute of each.
    """

    relation: RelationOf
    wanted: frozenset[str]
    changed: int | None = None
    given: Mapping[str, str] = field(default_factory=dict)

    def sql(self, plan: Plan) -> str:
        """Return the query of a plan; with the weight as its last column where the changed occurrence is below."""
        match plan:
            case Scan():
                return self._scan(plan)
            case Filter() if isinstance(plan.child, Join) and plan.child.kind is JoinKind.INNER:
                # A subquery above that reads these rows would else have Spark make every pair of them first.
                return self.sql(replace(plan.child, conjuncts=(*plan.child.conjuncts, *plan.conjuncts)))
            case Filter():
                return f"SELECT * FROM {self._nested(plan.child)} WHERE {_on(plan.conjuncts)}"
            case Project():
                weight = [_WEIGHT] if self._is_changed(plan.child) else []
                return f"SELECT {_list([*_named(plan.output, plan.expressions), *weight])} FROM {self._nested(plan.child)}"
            case Join():
                words = {JoinKind.INNER: "INNER JOIN", JoinKind.LEFT: "LEFT OUTER JOIN", JoinKind.FULL: "FULL OUTER JOIN"}[plan.kind]
                return f"SELECT * FROM {self._nested(plan.left)} {words} {self._nested(plan.right)} ON {_on(plan.conjuncts)}"
            case SemiJoin():
                return self._semijoin(plan)
            case Scalar():
                columns = _list(map(_identifier, plan.child.output)) + (f", {_WEIGHT}" if self._is_changed(plan.child) else "")
                return f"SELECT {columns}, ({self.sql(plan.subquery)}) AS {_identifier(plan.value)} FROM {self._nested(plan.child)}"
            case UnionAll():
                return self._union(plan)
            case SetOperation():
                words = plan.kind.value + ("" if plan.distinct else " ALL")
                both = f"({self._renamed(plan.left, plan.output)}) {words} ({self._renamed(plan.right, plan.output)})"
                return f"SELECT * FROM ({both})"
            case Distinct():
                return f"SELECT DISTINCT * FROM {self._nested(plan.child)}"
            case Aggregate() | Recurrence() | Fixpoint() if plan.output and plan.output[0].identifier in self.given:
                return f"SELECT * FROM {self.given[plan.output[0].identifier]}"
            case Aggregate():
                keys = _list(map(not_ordinal, plan.keys))
                items = _list(_named(plan.output, (*plan.keys, *plan.functions)))
                return f"SELECT {items} FROM {self._nested(plan.child)}" + (f" GROUP BY {keys}" if keys else "")
            case TopK():
                return self._topk(plan)
            case Sort():
                return self.sql(plan.child)
            case OneRow():
                return "SELECT 1 AS `one_row`"
            case Merge():
                raise Refused(Reason.LEFT_TO_SPARK, "aggregates that are merged from those of finer groups")
            case Recurrence() | Fixpoint():
                raise Refused(Reason.RECURSION, "which is the driver's own to compute")
            case Window():
                return f"SELECT *, {_list(_named(plan.added, plan.functions))} FROM {self._nested(plan.child)}"

    def last_sql(self, plan: Plan) -> str:
        """Return the query of a whole plan, with the order of its last rows."""
        match plan:
            case Sort():
                return f"SELECT * FROM {self._nested(plan.child)}{_order(plan.order)}"
            case Project() if isinstance(plan.child, (Sort, TopK)):
                # Spark keeps no order of a subquery; it knows columns that are not selected.
                return self.sql(plan) + _order(plan.child.order)
            case _:
                return self.sql(plan)

    def _nested(self, plan: Plan) -> str:
        return f"({self.sql(plan)})"

    def _is_changed(self, plan: Plan) -> bool:
        if self.changed is None:
            return False
        return (isinstance(plan, Scan) and plan.occurrence == self.changed) or any(map(self._is_changed, children(plan)))

    def _scan(self, plan: Scan) -> str:
        columns = [f"{quoted(each.name)} AS {_identifier(each)}" for each in plan.output if each.identifier in self.wanted]
        if plan.occurrence == self.changed:
            columns.append(_WEIGHT)
        return f"SELECT {_list(columns or ['1 AS `none`'])} FROM {self.relation(plan)}"

    def _semijoin(self, plan: SemiJoin) -> str:
        words = "LEFT ANTI JOIN" if plan.anti else "LEFT SEMI JOIN"
        condition = _on(plan.conjuncts)
        # NOT IN keeps a row only where every comparison is false, so one that is unknown counts as a partner.
        condition = f"coalesce({condition}, true)" if plan.null_aware else condition
        return f"SELECT * FROM {self._nested(plan.left)} {words} {self._nested(plan.right)} ON {condition}"

    def _union(self, plan: UnionAll) -> str:
        branches = plan.branches
        if self._is_changed(plan):
            assert self.changed is not None
            # The other branches stay as they are, so they add nothing to the change.
            branch = linear_input(plan, self.changed)
            branches = () if branch is None else (branch,)
        return f"SELECT * FROM ({' UNION ALL '.join(f'({self._renamed(each, plan.output)})' for each in branches)})"

    def _renamed(self, plan: Plan, output: tuple[Attribute, ...]) -> str:
        weight = [_WEIGHT] if self._is_changed(plan) else []
        pairs = zip(plan.output, output, strict=True)
        items = [f"{_identifier(one)} AS {_identifier(other)}" for one, other in pairs]
        return f"SELECT {_list([*items, *weight])} FROM {self._nested(plan)}"

    def _topk(self, plan: TopK) -> str:
        offset = "" if plan.offset is None else f" OFFSET {_text(plan.offset)}"
        return f"SELECT * FROM {self._nested(plan.child)}{_order(plan.order)} LIMIT {_text(plan.limit)}{offset}"


def _order(keys: tuple[OrderKey, ...]) -> str:
    items = (
        f"{not_ordinal(key.expression)} {'DESC' if key.descending else 'ASC'} NULLS {'FIRST' if key.nulls_first else 'LAST'}"
        for key in keys
    )
    return f" ORDER BY {_list(items)}" if keys else ""


def _text(expression: exp.Expr) -> str:
    return expression.sql(dialect=DIALECT)


def not_ordinal(expression: exp.Expr) -> str:
    """Render a key; a bare number would be the place of a column."""
    inner = expression.unnest()
    number = inner.this.unnest() if isinstance(inner, exp.Neg) else inner
    return f"coalesce({_text(expression)})" if isinstance(number, exp.Literal) else _text(expression)


def condition_sql(conjuncts: tuple[exp.Expr, ...]) -> str:
    """Render conjuncts for WHERE or ON, empty without any.

    No column and no word stands alone in brackets: Spark reads ``FROM t WHERE (a)`` as an alias of the table with a list of columns.
    """
    return " AND ".join(f"({_text(each)} AND true)" if isinstance(each.unnest(), _WORDS) else f"({_text(each)})" for each in conjuncts)


_WORDS = (exp.Column, exp.Boolean, exp.Null)


def _on(conjuncts: tuple[exp.Expr, ...]) -> str:
    return condition_sql(conjuncts) or "true"


def _identifier(attribute: Attribute) -> str:
    return quoted(attribute.identifier)


def _named(attributes: tuple[Attribute, ...], expressions: Iterable[exp.Expr]) -> list[str]:
    return [f"{_text(expression)} AS {_identifier(attribute)}" for attribute, expression in zip(attributes, expressions, strict=True)]


def _list(items: Iterable[str]) -> str:
    return ", ".join(items)
