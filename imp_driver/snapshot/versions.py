"""Which version of a table a statement reads: the newest, the one that its text names, or that of a reader's transaction."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from sqlglot import exp

from imp_driver.errors import CANCELLED, CONNECTION_LOST, Error, NotSupportedError
from imp_driver.parse.commands import CommandKind
from imp_driver.parse.statement import Statement, StatementKind, table_name, tables_in
from imp_driver.parse.time_travel import Asked
from imp_driver.ports import RelationKind, Session
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Grounds, Refused
from imp_driver.values.tables import ChangeSource

TRANSACTION_COMMANDS = frozenset({CommandKind.BEGIN, CommandKind.COMMIT, CommandKind.ROLLBACK})
_HARMLESS = frozenset({"SET", "RESET", "USE", "LIST", "ADD", "REFRESH", "CACHE", "UNCACHE", "CLEAR", "ANALYZE"})
"""First words of statements that are no queries and change neither tables nor what names stand for."""
_READS = re.compile(r"\b(from|join|table)\b", re.IGNORECASE)


class Versions(Protocol):
    """Says at which version a name is read."""

    reads_views: bool
    """Whether tables that are read through a view are covered too."""

    def of(self, name: tuple[str, ...], location: str) -> int | None:
        """Return the version of a name as written in the query, None for the newest. Raises Refused or an Error."""


class Newest:
    """Every table at its newest version."""

    reads_views = True

    def of(self, name: tuple[str, ...], location: str) -> int | None:
        return None


class TextVersions:
    """The versions that a query's own clauses ask for; where it has none, ``others`` decide.

    Which version a time stands for the engine itself says (``version_at`` of a name and a literal): Delta shifts a time by the offset of
    the session's zone, so that no reckoning from the table's history finds it.
    """

    reads_views = False

    def __init__(
        self, asked: Mapping[tuple[str, ...], Asked], others: Versions, version_at: Callable[[tuple[str, ...], str], int | None]
    ) -> None:
        self._asked = asked
        self._others = others
        self._version_at = version_at

    def of(self, name: tuple[str, ...], location: str) -> int | None:
        asked = self._asked.get(tuple(part.lower() for part in name))
        if asked is None:
            return self._others.of(name, location)
        return asked.version if asked.version is not None else self._of_time(name, asked.time)

    def _of_time(self, name: tuple[str, ...], time: str) -> int:
        try:
            version = self._version_at(name, time)
        except Error as error:
            if error.error_class in (CANCELLED, CONNECTION_LOST):
                raise
            raise Refused(Reason.TIME_TRAVEL, "a time that Spark refuses") from error
        if version is None:
            raise Refused(Reason.TIME_TRAVEL, "a time, of which a Spark Connect server does not say which version it reads")
        return version


def of_recursion(grounds: Grounds) -> Grounds:
    """Return why a recursion is not answered: of any old version by one code, as there is nobody else to read it so."""
    return replace(grounds, reason=Reason.OLD_VERSION) if grounds.reason is Reason.TIME_TRAVEL else grounds


class ReadTransaction:
    """One vector of versions for all statements of a reader: those of a moment, each looked up when its table is first read.

    What the reader itself writes meanwhile it sees. Not thread-safe: one per connection. Source: drivers design, snapshot reads.

    Attributes:
        is_open: whether statements are held to the moment.
        has_written: whether something was committed meanwhile.
    """

    reads_views = True

    def __init__(self, source: ChangeSource, moment: float | None = None, clock: Callable[[], float] = time.time) -> None:
        self._source = source
        self._clock = clock
        self._moment = moment or 0.0
        self._versions: dict[str, int] = {}
        self.is_open = self.is_fixed = moment is not None
        self.has_written = False

    def begin(self) -> None:
        """Hold the statements that follow to this moment. Raises NotSupportedError where they are held to one already."""
        if self.is_open:
            raise NotSupportedError("This connection is in a transaction already; COMMIT it first. Transactions cannot be nested.")
        self._moment, self._versions, self.has_written, self.is_open = self._clock(), {}, False, True

    def end(self) -> None:
        """Let the statements that follow read the newest versions; harmless outside a transaction."""
        self.is_open = self.is_fixed

    def of(self, name: tuple[str, ...], location: str) -> int | None:
        if not self.is_open:
            return None
        if location not in self._versions:
            self._versions[location] = self._source.version_at(location, self._moment)
        return self._versions[location]

    def run(self, command: CommandKind) -> None:
        """Begin or end. Raises NotSupportedError for what cannot be: nesting, or taking back what is committed."""
        if command is CommandKind.BEGIN:
            self.begin()
            return
        had_written, was_open = self.has_written and self.is_open, self.is_open
        self.end()
        if command is CommandKind.ROLLBACK and had_written:
            raise NotSupportedError(
                "The transaction has ended, but what it wrote stays: Delta commits each statement. RESTORE TABLE brings a version back."
            )
        if not was_open:
            raise NotSupportedError(f"There is no transaction to end; BEGIN starts one that reads, {command.value} ends it.")

    def check(self, statement: Statement) -> None:
        """Raise NotSupportedError for a statement that changes data or definitions where its effect would be hidden."""
        if self.is_fixed and statement.kind is StatementKind.CHANGE:
            raise NotSupportedError("This connection reads a snapshot of the past (option snapshot=), so it cannot write; use another one.")
        words = statement.text.split(None, 1)
        is_harmless = not words or words[0].upper().rstrip(";") in _HARMLESS
        if self.is_open and statement.kind is StatementKind.DEFINITION and not is_harmless:
            raise NotSupportedError(
                f"{words[0].upper()} cannot run in a transaction, which would not see its effect; COMMIT first, or use another connection."
            )

    def note_written(self, location: str, version: int) -> None:
        """See the reader's own commit from now on."""
        if self.is_open:
            self._versions[location] = version
            self.has_written = True


def text_at(statement: Statement, session: Session, versions: Versions) -> str:
    """Return the text of a query that no analysis understands, with every table read at its version.

    Raises:
        NotSupportedError: a relation cannot be held to a version.
        OperationalError: a table's history does not reach back.
    """
    if statement.tree is None and _READS.search(statement.text) is None:
        return statement.text
    if statement.tree is None:
        raise NotSupportedError("This text cannot be read at the transaction's versions, as the driver cannot parse it; COMMIT first.")
    common = {each.alias.lower() for each in statement.tree.find_all(exp.CTE)}
    pieces = []
    for table in tables_in(statement.tree):
        if table.args.get("version") is not None:
            continue
        name = table_name(table)
        relation = session.resolve(name)
        if len(name) == 1 and name[0].lower() in common:
            if relation is not None:
                raise NotSupportedError(f"{name[0]} is the name of a WITH query and of a relation; a transaction cannot tell them apart.")
            continue
        place = table.parts[-1].meta
        if relation is None or relation.kind is not RelationKind.DELTA_TABLE or relation.location is None or "end" not in place:
            raise NotSupportedError(
                f"{'.'.join(name)} cannot be read at the transaction's version, as it is no Delta table; read it outside of transactions."
            )
        pieces.append((statement.position_in_text(place["end"]) + 1, f" VERSION AS OF {versions.of(name, relation.location)}"))
    text = statement.text
    for end, clause in sorted(pieces, reverse=True):
        text = text[:end] + clause + text[end:]
    return text
