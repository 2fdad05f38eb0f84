"""Small tables of names and texts, for a terminal and for a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from imp_driver.values.plain import plain


def text_table(rows: Mapping[str, str]) -> str:
    """Return one line for each name, texts below each other."""
    width = max(map(len, rows), default=0)
    return "\n".join(f"{name:<{width}}  {_line(text)}" for name, text in rows.items())


def html_table(rows: Mapping[str, str]) -> str:
    """Return the same as HTML; nothing in names and texts is markup."""
    cells = (
        f'<tr><th style="text-align:left">{escape(_line(name))}</th><td style="text-align:left">{escape(_line(text))}</td></tr>'
        for name, text in rows.items()
    )
    return f"<table>{''.join(cells)}</table>"


def _line(text: str) -> str:
    return plain(" ".join(text.split()))
