"""The line that somebody types at: prompt_toolkit with highlighting, completion and history."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.filters import Condition
from prompt_toolkit.lexers import DynamicLexer, Lexer, PygmentsLexer
from pygments.lexers.rdf import SparqlLexer
from pygments.lexers.sql import SqlLexer

from imp_driver.cli.shell.completion import StatementCompleter, Tables
from imp_driver.cli.shell.history import PrivateHistory
from imp_driver.cli.shell.reader import is_complete
from imp_driver.parse.sparql import read_sparql

_PROMPT, _CONTINUED = "imp> ", "...> "


def prompt_session(tables: Callable[[], Tables], history: Path) -> PromptSession[str]:
    """Return what asks for texts; Enter ends one where all of its statements have their semicolons."""
    sql, sparql = PygmentsLexer(SqlLexer), PygmentsLexer(SparqlLexer)

    def lexer() -> Lexer:
        return sparql if read_sparql(get_app().current_buffer.text) is not None else sql

    return PromptSession(
        _PROMPT,
        prompt_continuation=_CONTINUED,
        multiline=Condition(lambda: not is_complete(get_app().current_buffer.text)),
        lexer=DynamicLexer(lexer),
        completer=StatementCompleter(tables),
        complete_while_typing=True,
        history=PrivateHistory(history),
    )
