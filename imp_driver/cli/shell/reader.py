"""Lines -> what is to be done, one after the other: statements, and commands that begin with a backslash."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from imp_driver.cli.statements import last_statement, split

LEAVE = re.compile(r"(?:exit|quit|\\q|\\quit)\s*;*", re.IGNORECASE)
HELP = re.compile(r"help\s*;*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """A statement without its semicolon, or a command; ``line`` is the number of its first line, from 1."""

    text: str
    line: int


class Reader:
    """Keeps the lines of a statement until its semicolon comes."""

    def __init__(self) -> None:
        self._pending: list[str] = []
        self._begin = 1
        """Number of the first pending line."""
        self._next = 1

    def feed(self, line: str) -> list[Entry]:
        """Take one more line, without its end, and return what is complete with it."""
        if not self._pending:
            self._begin = self._next
        self._next += 1
        if not self._pending and _is_command(line):
            return [Entry(line.strip(), self._begin)]
        self._pending.append(line)
        # A long statement is not read again for each of its lines, most of which end nothing.
        if len(self._pending) > 1 and ";" not in line and "*/" not in line:
            return []
        return self._taken()

    def rest(self) -> list[Entry]:
        """Return what has no semicolon at the end of the input."""
        text = "\n".join(self._pending)
        statement = last_statement(text)
        return [] if statement is None else [self._entry(statement.text, text, statement.begin)]

    def _taken(self) -> list[Entry]:
        text = "\n".join(self._pending)
        statements, place = split(text)
        found = [self._entry(each.text, text, each.begin) for each in statements]
        left = text[place:]
        if statements and "\n" not in left.strip() and _is_command(left):
            found.append(self._entry(left.strip(), text, place))
            left = ""
        self._begin += text.count("\n", 0, place)
        self._pending = left.split("\n") if left else []
        return found

    def _entry(self, text: str, source: str, place: int) -> Entry:
        return Entry(text, self._begin + source.count("\n", 0, place))


def entries(lines: Iterable[str]) -> Iterator[Entry]:
    """Yield the statements and commands of a script as soon as each is complete."""
    reader = Reader()
    for line in lines:
        yield from reader.feed(line.rstrip("\r\n"))
    yield from reader.rest()


def is_complete(text: str) -> bool:
    """Say whether nothing in a text waits for its semicolon."""
    reader = Reader()
    for line in text.split("\n"):
        reader.feed(line)
    return not reader.rest()


def _is_command(line: str) -> bool:
    text = line.strip()
    return text.startswith("\\") or LEAVE.fullmatch(text) is not None or HELP.fullmatch(text) is not None
