"""What may follow what is typed: keywords, functions, tables, columns, commands of the shell. Nothing is asked of the engine here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from imp_driver.cli.shell.catalog import in_sql
from imp_driver.cli.shell.commands import COMMANDS
from imp_driver.cli.shell.keywords import FUNCTIONS, KEYWORDS
from imp_driver.cli.statements import is_within_quotes, split

Tables = Mapping[str, Sequence[str]]

_NAME = r"(?:`[^`]+`|\w+)"
_WORD = re.compile(rf"(?:(?P<table>{_NAME})\.)?(?P<word>`?\w*)\Z")
_EXPECTS_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE|TABLE|DESCRIBE|DESC|REFRESH)\s+`?\w*\Z", re.IGNORECASE)
_READ = re.compile(rf"(?:\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+|,\s*)(?P<table>{_NAME})(?:\s+(?:AS\s+)?(?P<alias>{_NAME}))?", re.IGNORECASE)
_ARGUMENTS = {"\\x": ("on", "off"), "\\timing": ("on", "off"), "\\report": ("off", "short", "full")}


class StatementCompleter(Completer):
    """``tables`` gives the columns of each table of the current schema, as far as they are known."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """Yield what begins with the word before the cursor; nothing for no word, unless it is asked for."""
        before = document.text_before_cursor
        statement = before[split(before)[1] :].lstrip()
        match = _WORD.search(before)
        if match is None or is_within_quotes(before.removesuffix(match["word"])):
            return
        word = match["word"]
        if statement.startswith("\\"):
            yield from _of_command(statement, self._tables())
        elif word or match["table"] or complete_event.completion_requested:
            # What follows the cursor says of which tables the columns are.
            text = statement + document.text_after_cursor
            for name, meaning in _offered(text, statement, match["table"], word, self._tables()):
                yield Completion(name, -len(word), display_meta=meaning)


def _of_command(text: str, tables: Tables) -> Iterator[Completion]:
    name, blank, rest = text.partition(" ")
    if not blank:
        for known, command in COMMANDS.items():
            if known.startswith(name):
                yield Completion(known, -len(name), display_meta=command.help)
        return
    choices = [in_sql(table) for table in tables] if name in ("\\d", "\\dt") else _ARGUMENTS.get(name, ())
    for choice in choices:
        if _begins(choice, rest.lstrip()):
            yield Completion(choice, -len(rest.lstrip()))


def _offered(text: str, before: str, table: str | None, word: str, tables: Tables) -> Iterator[tuple[str, str]]:
    """Yield names and what each is; columns first, since there are fewer of them than of keywords."""
    known = {name.casefold(): name for name in tables}
    read = _aliases(text, known)
    if table is not None:
        name = read.get(_bare(table).casefold(), known.get(_bare(table).casefold()))
        yield from _columns(tables, [name] if name is not None else [], word)
        return
    names = [(in_sql(name), "table") for name in tables if _begins(name, word)]
    if _EXPECTS_TABLE.search(before) is not None:
        yield from names
    else:
        yield from _columns(tables, dict.fromkeys(read.values()) or tables, word)
        yield from names
        is_lower = word.islower()
        yield from ((each.lower() if is_lower else each, "keyword") for each in KEYWORDS if word and _begins(each, word))
        yield from ((f"{each}(", "function") for each in FUNCTIONS if word and _begins(each, word))


def _columns(tables: Tables, read: Iterable[str], word: str) -> Iterator[tuple[str, str]]:
    seen: dict[str, str] = {}
    for table in read:
        for column in tables[table]:
            if _begins(column, word):
                seen[column] = f"{seen[column]}, {table}" if column in seen else table
    yield from ((in_sql(column), f"column of {found}") for column, found in seen.items())


def _aliases(text: str, known: Mapping[str, str]) -> dict[str, str]:
    """Return the tables that a statement reads, by their names in it."""
    read: dict[str, str] = {}
    for match in _READ.finditer(text):
        table = known.get(_bare(match["table"]).casefold())
        if table is not None:
            is_alias = match["alias"] is not None and match["alias"].upper() not in KEYWORDS
            read[_bare(match["alias"] if is_alias else table).casefold()] = table
    return read


def _begins(name: str, word: str) -> bool:
    return name.casefold().startswith(_bare(word).casefold())


def _bare(name: str) -> str:
    return name.replace("`", "")
