"""The PEP 249 exception tree. Errors are data: text, Spark's error class, SQLSTATE and query position.

A message says what happened, where, and what to do; secrets in URLs are hidden. The cause (a foreign library's exception) is chained,
never shown as the message.
"""

from __future__ import annotations

from dataclasses import dataclass

from imp_driver.values.redaction import redacted

CANCELLED = "OPERATION_CANCELLED"
"""Error class of a run that was cancelled through this driver."""
CONNECTION_LOST = "CONNECTION_LOST"
"""Error class of a statement whose session no longer answers; a new connection is needed."""


class Warning(Exception):
    """Important but harmless events (PEP 249)."""


@dataclass(frozen=True, slots=True)
class QueryPosition:
    """Place in the SQL text that Spark blames: 1-based line and column, 0-based character offsets."""

    line: int
    column: int
    start: int | None = None
    stop: int | None = None


class Error(Exception):
    """Base of all errors of this driver.

    Attributes:
        error_class: Spark's stable error condition, such as ``TABLE_OR_VIEW_NOT_FOUND``; None when the error is ours.
        sqlstate: five characters of the SQL standard; None when Spark gave none.
        position: where in the statement; None when Spark gave none.
        query_id: identifier of the run, the same as ``Cursor.query_id``; None outside a run.
    """

    def __init__(
        self,
        message: str = "",
        *,
        error_class: str | None = None,
        sqlstate: str | None = None,
        position: QueryPosition | None = None,
        query_id: str | None = None,
    ) -> None:
        super().__init__(redacted(message))
        self.error_class = error_class
        self.sqlstate = sqlstate
        self.position = position
        self.query_id = query_id

    def __reduce__(self) -> tuple[object, ...]:
        state = {
            "error_class": self.error_class,
            "sqlstate": self.sqlstate,
            "position": self.position,
            "query_id": self.query_id,
        }
        return (type(self), self.args, state)


class InterfaceError(Error):
    """The driver was used wrongly: closed connection or cursor, bad option, fetch before execute."""


class DatabaseError(Error):
    """Something the database reported."""


class DataError(DatabaseError):
    """The data cannot be processed: division by zero, overflow, bad cast."""


class OperationalError(DatabaseError):
    """The surroundings failed: no Java, no warehouse, another process holds it, a cancelled query."""


class IntegrityError(DatabaseError):
    """A constraint of a table was violated."""


class InternalError(DatabaseError):
    """The driver or Spark broke one of its own rules, among them a difference found in shadow mode."""


class ProgrammingError(DatabaseError):
    """The statement is wrong: syntax, unknown table or column, wrong number of parameters."""


class NotSupportedError(DatabaseError):
    """The database or this driver cannot do what was asked."""


def add_sentence(error: Error, sentence: str) -> None:
    """Have the message of an error end with one sentence more: on a line of its own where the message has several."""
    told = str(error).rstrip()
    error.args = (redacted(told + ("\n" if "\n" in told else " ") + sentence),)


def cancelled(query_id: str | None) -> OperationalError:
    """Return what a run ends with that was cancelled."""
    return OperationalError("The query was cancelled.", error_class=CANCELLED, sqlstate="57014", query_id=query_id)


def raise_if_cancelled(error: Exception) -> None:
    """Raise an error again that is a cancellation: what was cancelled has not failed."""
    if isinstance(error, Error) and error.error_class == CANCELLED:
        raise error
