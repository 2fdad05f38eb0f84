"""What may have been meant by a statement that was not understood: its error says so, once Spark has had its say."""

from __future__ import annotations

import re

from imp_driver.errors import Error, NotSupportedError, ProgrammingError, add_sentence
from imp_driver.parse.commands import command_of
from imp_driver.parse.misread import bounds_recursion, is_behind_a_semicolon, misspells_recursive, reads_itself
from imp_driver.parse.nearest import nearest_form
from imp_driver.parse.sparql import has_sparql_inside, is_bare_sparql

_UNBOUND = "UNBOUND_SQL_PARAMETER"
_NOT_FOUND = "TABLE_OR_VIEW_NOT_FOUND"
_UNION = "UNION_NOT_SUPPORTED_IN_RECURSIVE_CTE"
_NAME_NOT_FOUND = re.compile(r"The table or view `((?:[^`]|``)+)` cannot be found")
_SYNTAX = "42601"
"""SQLSTATE of texts that Spark cannot parse."""
_WORD_MEANT = "Did you mean WITH RECURSIVE?"
_BOUNDED = (
    "WITH RECURSIVE with UNION is computed by this driver alone, which takes no MAX RECURSION LEVEL. Without it a UNION ends once no round "
    "finds a new row, on a cycle too; to end it earlier, count the steps in a column and write the bound into the step: "
    "SELECT .., r.steps + 1 FROM r JOIN .. WHERE r.steps < 5. MAX RECURSION LEVEL goes with UNION ALL, in statements that are Spark's own."
)


def suggest(error: Error, text: str) -> None:
    """Have the error of a statement that was not understood say what may have been meant.

    Raises:
        ProgrammingError: the text is SPARQL, of which an error about markers or about SQL says nothing.
        NotSupportedError: the driver does not read MAX RECURSION LEVEL, so that Spark was asked for UNION, or a view has no query.
    """
    is_own = error.error_class is None and isinstance(error, ProgrammingError) and command_of(text) is not None
    if (is_own or error.error_class == _UNION) and bounds_recursion(text):
        raise NotSupportedError(_BOUNDED, query_id=error.query_id) from error
    if error.error_class == _NOT_FOUND:
        found = _NAME_NOT_FOUND.search(str(error))
        if found is not None and reads_itself(text, found[1].replace("``", "`")):
            _add_once(error, _WORD_MEANT)
        return
    if (is_own or error.sqlstate == _SYNTAX) and misspells_recursive(text):
        _add_once(error, _WORD_MEANT)
        return
    if not _is_about_form(error) or command_of(text) is not None:
        return
    told = _of_sparql(text)
    if told is not None:
        raise ProgrammingError(told, query_id=error.query_id) from error
    place = error.position if error.sqlstate == _SYNTAX else None
    if place is not None and is_behind_a_semicolon(text, place.line, place.column):
        add_sentence(error, "One execute takes one statement: run what follows the semicolon by another one.")
        return
    if error.sqlstate == _SYNTAX and (form := nearest_form(text)) is not None:
        add_sentence(error, f"Did you mean {form}?")


def _add_once(error: Error, sentence: str) -> None:
    """Add a sentence that the statement which a command ran may have got already."""
    if sentence not in str(error):
        add_sentence(error, sentence)


def _is_about_form(error: Error) -> bool:
    """Say whether an error is about markers or syntax, be it of the driver or of Spark."""
    if error.error_class is None:
        return isinstance(error, (ProgrammingError, NotSupportedError))
    return error.error_class == _UNBOUND or error.sqlstate == _SYNTAX


def _of_sparql(text: str) -> str | None:
    if is_bare_sparql(text):
        beginning = " ".join(text.split())[:40]
        return f"This is SPARQL, which begins with that word: write SPARQL {beginning}{' ..' if len(beginning) == 40 else ''}"
    if has_sparql_inside(text):
        return (
            "SPARQL cannot stand inside a statement of SQL. Make a view of it, CREATE INCREMENTAL VIEW v AS SPARQL SELECT .., "
            "and read v in its place."
        )
    return None
