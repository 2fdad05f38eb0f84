"""Results as tables of a terminal: cut to its width, one value below the other where too many columns are beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from imp_driver.cli.shell.rows import Result, rows_told
from imp_driver.cli.terminal import cell
from imp_driver.dbapi.typeobjects import NUMBER, Description

_SHOWN_ROWS = 50
_COUNTED_ROWS = 100_000
"""Rows beyond the shown ones that are read for their number alone."""
_LEAST_WIDTH = 10
"""Of a column of text that is cut, in characters."""
_BESIDE = 3
"""Characters between the values of two columns, and of both edges less one."""


def show(result: Result, console: Console, is_vertical: bool) -> str:
    """Print the first rows of a result and return what there is to say about their number."""
    columns = result.description or []
    shown = result.fetchmany(_SHOWN_ROWS)
    _print(console, columns, shown, is_vertical)
    rest = 0
    for batch in result.fetch_record_batches():
        rest += batch.num_rows
        if rest > _COUNTED_ROWS:
            return f"More than {len(shown) + _COUNTED_ROWS:,} rows, the first {len(shown)} shown"
    count = len(shown) + rest
    return rows_told(count) + (f", the first {len(shown)} shown" if rest else "")


def _print(console: Console, columns: Sequence[Description], rows: Sequence[Sequence[object]], is_vertical: bool) -> None:
    names = [cell(name) for name, *_ in columns]
    cells = [[_value(value) for value in row] for row in rows]
    if len(names) == 1 and len(cells) == 1 and "\n" in cells[0][0].plain and not is_vertical:
        # Plans and definitions of tables, which have lines of their own and are copied.
        console.print(cells[0][0], soft_wrap=True)
        return
    are_numbers = [kind == NUMBER and kind != "boolean" for _, kind, *_ in columns]
    widths = None if is_vertical else _widths(names, cells, are_numbers, console.width)
    if widths is None:
        for number, row in enumerate(cells, 1):
            console.print(_one_below_the_other(number, names, row))
    else:
        console.print(_beside_each_other(names, cells, are_numbers, widths))


def _value(value: object) -> Text:
    # Where there are no colours, quotes tell the text from a value that is not there.
    return Text("'NULL'") if value == "NULL" else cell(value)


def _widths(names: Sequence[Text], rows: Sequence[Sequence[Text]], are_numbers: Sequence[bool], most: int) -> list[int] | None:
    """Return the width of each column in characters; None where more columns than fit would have to be cut to nothing."""
    of_values = [max((_width(row[place]) for row in rows), default=0) for place in range(len(names))]
    wanted = [max(_width(name), width, 1) for name, width in zip(names, of_values, strict=True)]
    # A number that is cut reads as another number.
    least = [
        max(width, 1) if is_number else min(wish, _LEAST_WIDTH)
        for width, wish, is_number in zip(of_values, wanted, are_numbers, strict=True)
    ]
    room = most - 1 - _BESIDE * len(names)
    if sum(wanted) <= room:
        return wanted
    if len(names) > 1 and sum(least) > room:
        return None
    cap = max((cap for cap in range(1, room + 1) if sum(_capped(wanted, least, cap)) <= room), default=1)
    return _capped(wanted, least, cap) if len(names) > 1 else [max(room, 1)]


def _capped(wanted: Sequence[int], least: Sequence[int], cap: int) -> list[int]:
    return [max(lower, min(wish, cap)) for wish, lower in zip(wanted, least, strict=True)]


def _width(text: Text) -> int:
    return max((cell_len(line.expandtabs()) for line in text.plain.split("\n")), default=0)


def _beside_each_other(names: Sequence[Text], rows: Sequence[Sequence[Text]], are_numbers: Sequence[bool], widths: Sequence[int]) -> Table:
    table = Table()
    for name, is_number, width in zip(names, are_numbers, widths, strict=True):
        # A single column is folded, since there is nothing beside it that would be torn apart.
        table.add_column(
            name,
            justify="right" if is_number else "left",
            width=width,
            no_wrap=len(names) > 1,
            overflow="ellipsis" if len(names) > 1 else "fold",
        )
    for row in rows:
        table.add_row(*row)
    return table


def _one_below_the_other(number: int, names: Sequence[Text], row: Sequence[Text]) -> Table:
    table = Table(title=f"row {number}", title_justify="left", show_header=False)
    for _ in range(2):
        table.add_column(overflow="fold")
    for name, value in zip(names, row, strict=True):
        table.add_row(name, value)
    return table
