"""What all operators over solutions have in common.

A K-set is a dict of solutions with integer counts, none of them 0; a solution is a tuple over the operator's variables with None for one
that is unbound. What changes is a K-set as well (the counting algorithm for SPARQL, section 3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Protocol, TypeAlias, TypeVar

from imp_driver.errors import NotSupportedError
from imp_driver.sparql.algebra import Variable
from imp_driver.sparql.terms import Term

Row: TypeAlias = tuple[Term | None, ...]
Delta: TypeAlias = Mapping[Row, int]
Take: TypeAlias = Callable[[Row], Row]
RowT = TypeVar("RowT")

NOTHING: Delta = {}


@dataclass(frozen=True, slots=True)
class Limits:
    """What holds a step: ``most`` tuples in all operators together, and ``check``, which raises where nobody waits for it any more."""

    most: int
    check: Callable[[], None] = lambda: None


class NotMaintained(NotSupportedError):
    """A pattern has no result that could follow changes; the message says why."""


class Operator(Protocol):
    """One operator of the algebra, which keeps what it needs of its inputs.

    Attributes:
        variables: columns of its solutions.
        size: how many tuples it keeps.
    """

    @property
    def variables(self) -> tuple[Variable, ...]: ...

    @property
    def size(self) -> int: ...

    def step(self, deltas: Sequence[Delta]) -> Delta:
        """Return how the operator's result changes when its inputs change so. The first step begins from nothing."""
        ...


def taking(columns: Sequence[int]) -> Take:
    """Return what takes columns of a row as a row."""
    if not columns:
        return _nothing
    if len(columns) == 1:
        return itemgetter(slice(columns[0], columns[0] + 1))
    return itemgetter(*columns)


def keying(columns: Sequence[int]) -> Callable[[Row], Any]:
    """Return what takes columns of a row as something to look up by: of one column the value alone."""
    return itemgetter(*columns) if columns else _nothing


def _nothing(row: Row) -> Row:
    return ()


def place_of(variables: Iterable[Variable]) -> dict[Variable, int]:
    """Return the column of each variable."""
    return {variable: column for column, variable in enumerate(variables)}


def add(total: dict[Row, int], row: Row, count: int) -> None:
    """Count a row ``count`` times more in a K-set."""
    now = total.get(row, 0) + count
    if now:
        total[row] = now
    else:
        del total[row]


def add_all(total: dict[RowT, int], delta: Mapping[RowT, int]) -> None:
    """Add one K-set to another."""
    for row, count in delta.items():
        now = total.get(row, 0) + count
        if now:
            total[row] = now
        else:
            del total[row]


def difference(before: Delta, after: Delta) -> dict[Row, int]:
    """Return what is to be added to one K-set to have another."""
    found = dict(after)
    for row, count in before.items():
        add(found, row, -count)
    return found


def spreading(own: Sequence[Variable], wanted: Sequence[Variable]) -> Take:
    """Return what makes a row over ``wanted`` of one over ``own``, with None for variables that this has not."""
    places = place_of(own)
    columns = [places.get(variable) for variable in wanted]
    present = [column for column in columns if column is not None]
    if len(present) == len(columns):
        return _same if present == list(range(len(own))) else taking(present)
    return lambda row: tuple([None if column is None else row[column] for column in columns])


def _same(row: Row) -> Row:
    return row
