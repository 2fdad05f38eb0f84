"""Which attributes a block may be sketched on: the aligned rule, and the refusals. Everything that decides soundness stands here.

Aligned rule (sketch-safety rules 1.5): when every group has one value of the sketched attribute, a range filter keeps a group whole or
drops it whole, so each group that is left has its exact aggregates, and any HAVING, in any direction, decides as before. A group key that
is a plain column of the table is such an attribute. The sketch stands for all groups that the block returns, so whatever follows above
the block sees the same rows (pinning, rules 1.6).
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from sqlglot import exp

from imp_driver.parse.bind import BoundBlock
from imp_driver.parse.nodes import AggregateReference, And, Arithmetic, Comparison, Expression, IsNull, KeyReference, Not, Or
from imp_driver.parse.plan import QueryBlock
from imp_driver.parse.supported import Refused
from imp_driver.reasons import Reason

_ASSUMED = {
    "spark.sql.caseSensitive": "false",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.groupByAliases": "true",
    "spark.sql.readSideCharPadding": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
}
"""Settings under which names and positions mean what the analysis reads into them; an unset one has this default."""


def check_settings(settings: tuple[tuple[str, str], ...]) -> None:
    """Check that the session reads names and positions as the analysis does.

    Raises:
        Refused: a setting differs.
    """
    for name, value in settings:
        if name in _ASSUMED and value not in (_ASSUMED[name], "None"):
            raise Refused(Reason.UNSUPPORTED_SETTING, f"{name} = {value}")


def safe_attributes(block: QueryBlock, columns: Mapping[str, pa.DataType | None]) -> tuple[int, ...]:
    """Return the indexes of the group keys that may be sketched on, in the order of the GROUP BY.

    Raises:
        Refused: no key is safe, or the top-k does not order its groups totally.
    """
    _check_total_order(block)
    safe = tuple(index for index, key in enumerate(block.keys) if isinstance(key, exp.Column) and _can_be_cut(columns.get(key.name)))
    if not safe:
        raise Refused(Reason.NO_PLAIN_GROUP_KEY)
    return safe


def check_filters(block: QueryBlock, bound: BoundBlock) -> None:
    """Check that something drops groups, in terms of what the operators maintain.

    Raises:
        Refused: every group is in the answer, or only aggregates that are not maintained decide.
    """
    if block.limit is not None:
        if not bound.order or not _is_maintained(bound.order[0].expression):
            raise Refused(Reason.UNSUPPORTED_AGGREGATE)
        return
    if bound.condition is not None:
        if not _is_maintained(bound.condition):
            raise Refused(Reason.UNSUPPORTED_AGGREGATE)
        return
    if bound.where is None:
        raise Refused(Reason.NO_FILTER_ABOVE_GROUPS)


def _can_be_cut(kind: pa.DataType | None) -> bool:
    """Booleans have two values only; types without an Arrow form here have no order that both sides share."""
    return kind is not None and not pa.types.is_boolean(kind)


def _check_total_order(block: QueryBlock) -> None:
    if block.limit is None:
        return
    ordered = [item.expression.unnest() for item in block.order]
    missing = [key.sql(dialect="spark") for key in block.keys if key.unnest() not in ordered]
    if missing:
        raise Refused(Reason.ORDER_NOT_TOTAL, f"add {', '.join(missing)} at the end of ORDER BY")


def _is_maintained(expression: Expression) -> bool:
    match expression:
        case KeyReference() | AggregateReference():
            return True
        case And(operands) | Or(operands):
            return any(_is_maintained(each) for each in operands)
        case Not(operand) | IsNull(operand):
            return _is_maintained(operand)
        case Comparison(_, left, right) | Arithmetic(_, left, right):
            return _is_maintained(left) or _is_maintained(right)
        case _:
            return False
