"""Where the text of a query reads a view."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from imp_driver.parse.statement import Statement
from imp_driver.ports import View


@dataclass(frozen=True, slots=True, eq=False)
class ViewReference:
    """One place where a view is read, and the text that it stands for.

    Attributes:
        place: the reference, in the tree of the query or of the view around it.
        statement: the view's text, parsed; ``tree`` is a copy of its tree of which each reference has its own.
        names: the references in ``tree`` to tables and views, with their full names; complete once the text is resolved.
    """

    place: exp.Table
    name: tuple[str, ...]
    view: View
    statement: Statement
    tree: exp.Expr
    names: list[tuple[exp.Table, tuple[str, ...]]]
