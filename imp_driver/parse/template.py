"""Template: the statement with the constants and markers of its conditions replaced, under the settings that give it its meaning.

Two statements with one template differ only in such constants; then one state serves both (IMP paper, sections 2 and 6.1).
Constants of LIMIT and of the SELECT list stay in the template (sketch-safety rules 2.1).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from sqlglot import exp

from imp_driver.parse.statement import DIALECT

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
    return copy.sql(dialect=DIALECT, comments=False, normalize=True)


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

    return tree.transform(mask).sql(dialect=DIALECT, comments=False, normalize=True)
