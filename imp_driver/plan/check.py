"""The one list of what no rule covers: everything in a query is walked once, and refused with its reason before it is resolved."""

from __future__ import annotations

import re

from sqlglot import exp

from imp_driver.parse.functions import POSITIONS, RANKS, check_constants, check_function
from imp_driver.parse.statement import Statement
from imp_driver.plan.grouping import SET_FUNCTIONS
from imp_driver.plan.recursive_form import check_recursive
from imp_driver.reasons import Reason
from imp_driver.values.quoting import has_variable
from imp_driver.values.refusal import Refused

_REFUSED: tuple[tuple[type[exp.Expr], Reason], ...] = (
    (exp.TableSample, Reason.SAMPLE),
    # What the driver follows has been taken out of the text (parse/time_travel.py).
    (exp.Version, Reason.TIME_TRAVEL),
    (exp.Lateral, Reason.TABLE_FUNCTION),
    (exp.Unnest, Reason.TABLE_FUNCTION),
    (exp.Qualify, Reason.WINDOW_FUNCTION),
    (exp.Pivot, Reason.UNSUPPORTED_EXPRESSION),
    (exp.Cluster, Reason.UNSUPPORTED_EXPRESSION),
    (exp.Distribute, Reason.UNSUPPORTED_EXPRESSION),
    (exp.Sort, Reason.UNSUPPORTED_EXPRESSION),
    (exp.QueryTransform, Reason.UNSUPPORTED_EXPRESSION),
    (exp.Into, Reason.UNSUPPORTED_EXPRESSION),
    (exp.Lambda, Reason.UNSUPPORTED_EXPRESSION),
    (exp.Dot, Reason.UNSUPPORTED_EXPRESSION),
    (exp.Fetch, Reason.UNSUPPORTED_EXPRESSION),
)

_DOLLAR_QUOTED = re.compile(r"\$\w*\$")
_STRUCTURE: tuple[type[exp.Expr], ...] = (exp.Exists, *SET_FUNCTIONS)
"""Functions to the parser that are operators of the plan, or ask what one has done."""


def checked_tree(statement: Statement) -> exp.Expr:
    """Return the tree of a text that parser and Spark read alike.

    Raises:
        Refused: they might not.
    """
    if statement.tree is None:
        raise Refused(Reason.NOT_PARSED)
    if "\\" in statement.text:
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "a backslash, which parser and Spark could read differently")
    if _DOLLAR_QUOTED.search(statement.text):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "$..$, between which Spark may read a text")
    if has_variable(statement.text):
        raise Refused(Reason.UNSUPPORTED_EXPRESSION, "${, which begins a variable that Spark replaces before it reads the statement")
    return statement.tree


def check(tree: exp.Expr, but: tuple[type[exp.Expr], ...] = ()) -> None:
    """Walk a query. What is of a kind in ``but`` is taken as it is.

    Raises:
        Refused: it holds something without a rule.
    """
    for node in tree.walk():
        for kind, reason in _REFUSED:
            if isinstance(node, kind) and not isinstance(node, but):
                raise Refused(reason, node.key)
        if isinstance(node, exp.With) and node.args.get("recursive"):
            check_recursive(node)
        if isinstance(node, exp.Func) and not isinstance(node, _STRUCTURE) and not _is_of_window(node):
            check_function(node)
        check_constants(node)
        if isinstance(node, (exp.Where, exp.Having)) and isinstance(node.this, exp.Paren) and isinstance(node.this.this, exp.Column):
            raise Refused(
                Reason.UNSUPPORTED_EXPRESSION, f"{node.sql(dialect='spark')}, which Spark may read as an alias of the table before it"
            )
        if isinstance(node, exp.Column) and "_metadata" in (node.name.lower(), node.table.lower()):
            raise Refused(Reason.QUALIFIED_COLUMN, node.sql(dialect="spark"))


def _is_of_window(node: exp.Expr) -> bool:
    return isinstance(node, (*RANKS, *POSITIONS)) and isinstance(node.parent, exp.Window)
