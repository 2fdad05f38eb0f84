"""What a command of some minutes says: sentences in a terminal, one JSON object a line into a pipe or a file."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext

from rich.console import Console


def record(console: Console, kind: str, **fields: object) -> None:
    """Write one line: a JSON object whose ``record`` says what its other fields are."""
    console.file.write(json.dumps({"record": kind, **fields}) + "\n")
    console.file.flush()


def tell(console: Console, sentence: str, kind: str, **fields: object) -> None:
    """Say it in words where somebody looks, else as a record."""
    if console.is_terminal:
        console.print(sentence, highlight=False, markup=False, soft_wrap=True)
    else:
        record(console, kind, **fields)


def spinner(console: Console, text: str) -> AbstractContextManager[object]:
    """Show that something goes on, where somebody looks."""
    return console.status(text) if console.is_terminal else nullcontext()


def in_bytes(size: int) -> str:
    """Return a size for people, in units of 1,000."""
    for power, unit in ((3, "GB"), (2, "MB"), (1, "kB")):
        amount = size / 1_000**power
        if amount >= 1:
            return f"{amount:,.0f} {unit}" if amount >= 9.95 else f"{amount:.1f} {unit}"
    return f"{size} bytes"


def in_time(seconds: float) -> str:
    """Return a time for people: three digits at most."""
    if seconds >= 9.95:
        return f"{seconds:,.0f} s"
    if seconds >= 0.9995:
        return f"{seconds:.1f} s"
    return f"{seconds * 1000:.0f} ms" if seconds >= 0.00995 else f"{seconds * 1000:.1f} ms"


def counted(number: int, one: str, many: str) -> str:
    """Return a number with what it counts."""
    return f"{number:,} {one if number == 1 else many}"
