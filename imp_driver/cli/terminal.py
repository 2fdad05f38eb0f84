"""Values from data in tables of rich, which would read markup in a str."""

from __future__ import annotations

from rich.text import Text

from imp_driver.cli.values import as_text
from imp_driver.values.plain import plain


def cell(value: object) -> Text:
    """Return a value for a table."""
    return Text("NULL", style="dim italic") if value is None else Text(plain(as_text(value)))
