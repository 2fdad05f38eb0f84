"""Template: the statement with the constants and markers of its conditions replaced, under the settings that give it its meaning.

Two statements with one template differ only in such constants; then one state serves both (IMP paper, sections 2 and 6.1).
Constants of LIMIT and of the SELECT list stay in the template (sketch-safety rules 2.1).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from imp_driver.parse.patterns import is_value, kind_of
from imp_driver.parse.statement import DIALECT, Statement, per_statement, table_name, tables_in
from imp_driver.values.execution import Parameters

VIEW_MARK = "\n"
"""Begins the text of each view that a template looks through; the query's own text has no line break."""


@dataclass(frozen=True, slots=True)
class Template:
    """``identifier`` is a short stable hash of text, table identity and settings."""

    identifier: str
    text: str


def template_text(tree: exp.Expr) -> str:
    """Render a statement with every constant and marker of its conditions as ``?``, and lists of these as ``(?)``."""
    copy = tree.copy()
    for condition in list(copy.find_all(exp.Where, exp.Having)):
        for node in list(condition.find_all(exp.Literal, exp.Placeholder, exp.Boolean, exp.Null)):
            if isinstance(node.parent, exp.Is) or node.parent is None:
                continue
            node.replace(exp.Placeholder())
        for member in condition.find_all(exp.In):
            if member.expressions and all(isinstance(each, exp.Placeholder) for each in member.expressions):
                member.set("expressions", [exp.Placeholder()])
    return copy.sql(dialect=DIALECT, comments=False, normalize=True, copy=False)


def make_template(text: str, tables: tuple[tuple[str, str], ...], settings: tuple[tuple[str, str], ...], block: int = 0) -> Template:
    """Key a template text by the identities of its tables (location, table id), settings that change meaning, and the block's number."""
    digest = hashlib.blake2s(repr((text, tables, settings, block)).encode(), digest_size=6)
    return Template(digest.hexdigest(), text)


_CONSTANTS = (
    exp.Literal,
    exp.Boolean,
    exp.HexString,
    exp.BitString,
    exp.ByteString,
    exp.RawString,
    exp.UnicodeString,
    exp.National,
    exp.Placeholder,
)


def text_without_constants(tree: exp.Expr) -> str:
    """Render a statement with every constant as ``?``, wherever it stands, for records that must not hold a user's values."""

    def mask(node: exp.Expr) -> exp.Expr:
        return exp.Placeholder() if isinstance(node, _CONSTANTS) else node

    return tree.transform(mask).sql(dialect=DIALECT, comments=False, normalize=True, copy=False)


@per_statement
def text_and_names(statement: Statement) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """Return a parsed statement without its constants, and the names of tables and views in it, as they are written."""
    assert statement.tree is not None
    common = {each.alias for each in statement.tree.find_all(exp.CTE)}
    names = dict.fromkeys(table_name(each) for each in tables_in(statement.tree))
    return text_without_constants(statement.tree), tuple(name for name in names if name and name[0] not in common)


def typed_text(statement: Statement, parameters: Parameters, constants: Mapping[str, object] | None = None) -> tuple[object, ...]:
    """Return what the names and types of a query's columns depend on beside its tables: the types of its constants, seldom their values.

    ``constants`` are those of a text whose statement is that of all texts like it.
    """
    text, is_named_by_values, counts_digits = _typed(statement)
    if is_named_by_values and constants:
        text = f"{text} {sorted(map(repr, constants.items()))}"
    values = parameters.values() if isinstance(parameters, Mapping) else parameters or ()
    return (text, *(_typed_value(value, is_named=is_named_by_values, counts_digits=counts_digits) for value in values))


def _typed_value(value: object, *, is_named: bool, counts_digits: bool) -> object:
    if is_named:
        return repr(value), _type_of(value)
    return (len(str(value).lstrip("-")), _type_of(value)) if counts_digits and isinstance(value, int) else _type_of(value)


@per_statement
def _typed(statement: Statement) -> tuple[str, bool, bool]:
    """Return the text with the types of its constants, whether a column has its name or type from the value of one, or from its digits."""
    assert statement.tree is not None
    # Columns of a subquery within a condition have no name that could be seen.
    selects = [each for each in statement.tree.find_all(exp.Select) if each.find_ancestor(exp.Where, exp.Having) is None]
    items = [item for select in selects for item in select.expressions]
    is_named = any(not isinstance(item, (exp.Alias, exp.Column)) and item.find(*_CONSTANTS) for item in items)
    beside = [
        type(_around(marker)) for marker in statement.tree.find_all(exp.Placeholder) if marker.find_ancestor(exp.Where, exp.Having) is None
    ]
    if is_named or any(issubclass(each, (exp.Round, exp.Anonymous)) for each in beside):
        return statement.text, True, True
    copy = statement.tree.copy()
    for node in list(copy.find_all(exp.Literal, exp.Placeholder)):
        kind = kind_of(node)
        if kind and is_value(node):
            node.replace(exp.var(f"?{kind}"))
        # GROUP BY 1 names a column.
        elif isinstance(node, exp.Literal) and node.find_ancestor(exp.Group, exp.Order) is None:
            node.replace(exp.var(f"?{_type_of(str(node.this) if node.is_string else _number_of(str(node.this)))}"))
    return copy.sql(dialect=DIALECT, comments=False, copy=False), False, any(issubclass(each, _WIDENING) for each in beside)


_WIDENING = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod)
"""Operators that give a decimal the digits of the whole number beside it."""


def _around(marker: exp.Placeholder) -> exp.Expr | None:
    """Return what a marker is an operand of."""
    parent = marker.parent
    while isinstance(parent, (exp.Paren, exp.Neg)):
        parent = parent.parent
    return parent


def _number_of(text: str) -> int | float | Decimal:
    if text.isdigit():
        return int(text)
    return float(text) if "e" in text.lower() else Decimal(text)


def _type_of(value: object) -> str:
    """Return a name of the type that Spark gives a value: that of a number depends on its digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"int{max(32, value.bit_length() // 32 * 32 + 32)}" if value.bit_length() < 64 else f"int{len(str(abs(value)))}"
    if isinstance(value, Decimal):
        return f"decimal{len(value.as_tuple().digits)}_{value.as_tuple().exponent}"
    return type(value).__name__
