"""Values from data in tables of rich, which would read markup in a str."""

from __future__ import annotations

from rich.text import Text

from imp_driver.cli.plain import plain


def cell(value: object) -> Text:
    """Return a value for a table."""
    return Text("NULL" if value is None else plain(str(value)))
