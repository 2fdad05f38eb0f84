"""Conditions that are known by their text alone: equal texts mean equal values, provided nothing else decides them."""

from __future__ import annotations

from sqlglot import exp

from imp_driver.parse.functions import SPECIAL_INSTANTS, check_function
from imp_driver.reuse.constants import is_constant
from imp_driver.values.refusal import Refused


def text_of(expression: exp.Expr) -> str:
    """Return a text that two expressions share only when they are the same tree; SQL would not tell all trees apart."""
    return repr(expression.unnest())


def is_fixed(expression: exp.Expr) -> bool:
    """Say whether an expression's value depends on its attributes alone: not on markers, the clock, chance, or another query."""
    return all(_is_fixed_node(node) for node in expression.walk())


def _is_fixed_node(node: exp.Expr) -> bool:
    if isinstance(node, (exp.Placeholder, exp.Parameter, exp.SessionParameter, exp.Query, exp.Subquery, exp.Window)):
        return False
    if isinstance(node, exp.Literal):
        return not (node.is_string and str(node.this).strip().lower().startswith(SPECIAL_INSTANTS))
    if isinstance(node, (exp.Func, exp.DPipe)) and node.find(exp.Column) is None and not is_constant(node):
        # Spark folds it first, and may find "today" in it.
        return False
    if isinstance(node, exp.Func):
        try:
            check_function(node)
        except Refused:
            return False
    return True
