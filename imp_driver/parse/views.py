"""CREATE INCREMENTAL or MATERIALIZED VIEW as text -> its parts, and what makes Spark's catalog have it, as a view or as a table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

from imp_driver.errors import ProgrammingError
from imp_driver.parse.dialect import SparkText
from imp_driver.parse.expiry import Expiry
from imp_driver.parse.tokens import closing, tokens_of
from imp_driver.parse.words import Words
from imp_driver.values.quoting import qualified, quoted_text
from imp_driver.values.types import LENGTHS
from imp_driver.values.view_policy import NAMESPACE, PROPERTY, PROVENANCE, QUERY, SECONDS, SHOWN, SHOWN_END, SPARQL, ViewPolicy

_FORM = (
    "CREATE [OR REPLACE] INCREMENTAL | MATERIALIZED VIEW [IF NOT EXISTS] name [(columns)] [COMMENT 'text'] "
    "[POLICY AUTO | INCREMENTAL | STRICT | FULL] [EVERY n SECONDS] [WITH PROVENANCE] "
    "[WITH EXPIRY table AFTER INTERVAL n unit ON column [BY CLOCK]] AS query"
)
_BEGINNING = re.compile(r"\s*CREATE\s+(OR\s+REPLACE\s+)?(?:INCREMENTAL|MATERIALIZED)\s+VIEW\s+(IF\s+NOT\s+EXISTS\s+)?", re.IGNORECASE)
_SPARQL = re.compile(r"((?:'(?:[^'\\]|\\.|'')*'|(?!\bAS\b).)*\bAS)\s+(SPARQL\s.*)", re.IGNORECASE | re.DOTALL)
"""What stands before a query in SPARQL, which has other tokens, and the query."""
_FEED = "delta.enableChangeDataFeed"
_IF_EXISTS = "IF EXISTS "
_MOST_DIGITS = 6


@dataclass(frozen=True, slots=True)
class NewView:
    """A view to be made.

    Attributes:
        query: its SELECT.
        columns, comment: as they are written, empty without any.
        seconds: between two refreshes of a materialized view; None where these are asked for.
        expiries: which rows of its tables leave it after some time, until they are in ``query``.
        has_provenance: whether it is to be kept why each row is there.
        typed: a query that Spark runs, with the columns of a recursive one, which it does not; empty for any other.
        sparql: the query in SPARQL, until its translation is in ``query``; empty where it was written in SQL.
    """

    name: tuple[str, ...]
    query: str
    policy: ViewPolicy
    columns: str = ""
    comment: str = ""
    replaces: bool = False
    may_exist: bool = False
    seconds: int | None = None
    expiries: tuple[Expiry, ...] = ()
    has_provenance: bool = False
    typed: str = ""
    sparql: str = ""

    def table_text(self, namespace: Sequence[str], view: str) -> str:
        """Return the statement for Spark that makes a table of a view's rows, typed as the query is.

        Args:
            namespace: where names in the query are found.
            view: shows the rows.
        """
        head = f"CREATE {'OR REPLACE ' * self.replaces}TABLE {'IF NOT EXISTS ' * self.may_exist}{qualified(self.name)} USING DELTA"
        values = {PROPERTY: self.policy.name, QUERY: self.query, NAMESPACE: json.dumps(list(namespace)), _FEED: "true", **self._own}
        if self.seconds is not None:
            values[SECONDS] = str(self.seconds)
        properties = ", ".join(f"{quoted_text(name)} = {quoted_text(value)}" for name, value in values.items())
        rows = f"(SELECT * FROM ({self.typed or self.query}\n) AS __imp_rows{self.columns} LIMIT 0) UNION ALL SELECT * FROM {view}"
        return " ".join(filter(None, (head, self.comment, f"TBLPROPERTIES ({properties})", "AS", rows)))

    @property
    def text(self) -> str:
        """The statement for Spark that makes a view."""
        head = f"CREATE {'OR REPLACE ' * self.replaces}VIEW {'IF NOT EXISTS ' * self.may_exist}{qualified(self.name)}"
        values = {PROPERTY: self.policy.name, **({QUERY: self.query} if self.typed else {}), **self._own}
        if self.has_provenance:
            values[PROVENANCE] = "true"
        properties = ", ".join(f"{quoted_text(name)} = {quoted_text(value)}" for name, value in values.items())
        return " ".join(filter(None, (head, self.columns, self.comment, f"TBLPROPERTIES ({properties})", "AS", self._shown)))

    @property
    def _own(self) -> dict[str, str]:
        return {SPARQL: self.sparql} if self.sparql else {}

    @property
    def _shown(self) -> str:
        """What the catalog has for the query: for a recursive one a query that fails, lest another client takes other rows for its own."""
        if not self.typed:
            return self.query
        told = (
            "this is a recursive view: imp_driver alone computes its rows, on a connection with the options sketch and answers on. "
            "CREATE MATERIALIZED VIEW .. AS SELECT * FROM this view puts them into a table that everybody reads"
        )
        return f"{SHOWN}{quoted_text(told)}) AS told) AS __imp_told LEFT JOIN ({self.typed}\n{SHOWN_END}"


def read_new_view(text: str) -> NewView:
    """Read a statement that begins with CREATE [OR REPLACE] INCREMENTAL (or MATERIALIZED) VIEW.

    Raises ProgrammingError where it is of another form.
    """
    found = _BEGINNING.match(text)
    assert found is not None
    rest, sparql = text[found.end() :], ""
    other = _SPARQL.fullmatch(rest)
    if other is not None:
        rest, sparql = other[1], other[2].rstrip().rstrip(";")
    words = _Words(rest, tokens_of(rest, _FORM))
    name = words.name()
    columns = words.in_brackets()
    comment = policy = ""
    seconds = None
    expiries: list[Expiry] = []
    has_provenance = False
    while not words.take("AS"):
        if not comment and words.take("COMMENT"):
            comment = f"COMMENT {words.text()}"
        elif not policy and words.take("POLICY"):
            policy = words.word()
        elif seconds is None and words.take("EVERY"):
            seconds = words.seconds()
        elif words.take("WITH"):
            if words.take("PROVENANCE"):
                has_provenance = True
            else:
                words.expect("EXPIRY")
                expiries.append(words.expiry())
        else:
            raise words.unexpected()
    if policy and policy not in ViewPolicy.__members__:
        raise ProgrammingError(f"There is no policy {policy}. These are {', '.join(ViewPolicy.__members__)}.")
    replaces, may_exist = found.group(1) is not None, found.group(2) is not None
    if replaces and may_exist:
        raise ProgrammingError("CREATE OR REPLACE and IF NOT EXISTS exclude each other.")
    if seconds is not None and "MATERIALIZED" not in found.group().upper():
        raise ProgrammingError("EVERY n SECONDS is for materialized views; an incremental one is up to date whenever it is read.")
    query, kept = "" if sparql else words.rest(), ViewPolicy[policy or "AUTO"]
    return NewView(name, query, kept, columns, comment, replaces, may_exist, seconds, tuple(expiries), has_provenance, sparql=sparql)


def read_name(text: str) -> tuple[str, ...]:
    """Read the name of a view, and nothing after it. Raises ProgrammingError."""
    try:
        words = _Words(text, sqlglot.tokenize(text, read=SparkText), "[IF EXISTS] name")
    except SqlglotError:
        raise ProgrammingError(f"{text!r} is no name of a view.") from None
    name = words.name()
    if not words.is_at_end:
        raise words.unexpected()
    return name


def read_dropped(argument: str) -> tuple[tuple[str, ...], bool]:
    """Read what follows DROP .. VIEW: the name, and whether there need be none of it. Raises ProgrammingError."""
    may_miss = argument.upper().startswith(_IF_EXISTS)
    return read_name(argument[len(_IF_EXISTS) :] if may_miss else argument), may_miss


class _Words(Words):
    """Of a statement about a view, whose text is kept as it is written."""

    def __init__(self, text: str, tokens: list[Token], form: str = _FORM) -> None:
        super().__init__(tokens, form)
        self._text = text

    def word(self) -> str:
        token = self._next()
        return token.text.upper()

    def seconds(self) -> int:
        """Return the number of ``n SECONDS``."""
        token = self._next()
        number = int(token.text) if token.token_type is TokenType.NUMBER and token.text.isdecimal() else 0
        if not number:
            self._place -= 1
            raise self.unexpected()
        if not (self.take("SECONDS") or self.take("SECOND")):
            raise self.unexpected()
        return number

    def expiry(self) -> Expiry:
        """Return ``table AFTER INTERVAL n unit ON column [BY CLOCK]``."""
        table = self.name()
        self.expect("AFTER", "INTERVAL")
        count = self._next()
        text = count.text if count.token_type in (TokenType.NUMBER, TokenType.STRING) else ""
        unit = self.word().lower().removesuffix("s")
        if not text.isdecimal() or len(text) > _MOST_DIGITS or not int(text) or unit not in LENGTHS:
            self._place -= 1
            raise self.unexpected()
        self.expect("ON")
        column = self._next().text
        by_clock = self.take("BY")
        if by_clock:
            self.expect("CLOCK")
        return Expiry(table, int(text), unit, column, by_clock)

    def text(self) -> str:
        """Return a text as it is written."""
        token = self._next_text()
        return self._text[token.start : token.end + 1]

    def name(self) -> tuple[str, ...]:
        return tuple(self._parts())

    def _parts(self) -> Iterator[str]:
        while True:
            token = self._next()
            if token.token_type in (TokenType.L_PAREN, TokenType.DOT, TokenType.STRING):
                self._place -= 1
                raise self.unexpected()
            yield token.text
            following = self._peek()
            if following is None or following.token_type is not TokenType.DOT:
                return
            self._place += 1

    def in_brackets(self) -> str:
        """Return what is in brackets, with them, as it is written; empty where none come next."""
        first = self._peek()
        if first is None or first.token_type is not TokenType.L_PAREN:
            return ""
        last = closing(self._tokens, self._place)
        self._place = len(self._tokens) if last is None else last + 1
        if last is None:
            raise self.unexpected()
        return self._text[first.start : self._tokens[last].end + 1]

    def rest(self) -> str:
        """Return the query."""
        first = self._next()
        if any(each.token_type is TokenType.PLACEHOLDER for each in self._tokens):
            raise ProgrammingError("A view has no markers for values; write the values into its query.")
        return self._text[first.start :].rstrip().rstrip(";").rstrip()
