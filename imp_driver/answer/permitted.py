"""Who may have rows that do not come from Spark, whose own checks do not see them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from imp_driver.plan.nodes import Scan, scans
from imp_driver.ports import Session
from imp_driver.reasons import Reason
from imp_driver.snapshot.text import Grouped
from imp_driver.values.option_kinds import RowRules
from imp_driver.values.options import Options
from imp_driver.values.refusal import Refused


class Permitted:
    """What one connection may read."""

    def __init__(self, session: Session, options: Options) -> None:
        self._session = session
        self._options = options

    def check(self, grouped: Grouped) -> None:
        """Raise Refused where a table or view of a query may not be read, or rows may be hidden."""
        self._check(_names(grouped))

    def check_scans(self, every: Sequence[Scan]) -> None:
        """Raise Refused as ``check``."""
        self._check(_names_of(every))

    def check_tables(self, names: Iterable[tuple[str, ...]]) -> None:
        """Raise Refused as ``check``, for tables by name."""
        self._check(names)

    def check_readable(self, every: Sequence[Scan]) -> None:
        """Raise Refused where a table or view may not be read at all; rows that Spark computes are those that may be seen."""
        self._check_names(_names_of(every))

    def _check(self, names: Iterable[tuple[str, ...]]) -> None:
        if self._options.row_rules is RowRules.ENGINE and self._session.has_row_rules():
            raise Refused(Reason.NOT_PERMITTED, "the engine may have rules of its own about who sees which rows (option row_rules)")
        self._check_names(names)

    def _check_names(self, names: Iterable[tuple[str, ...]]) -> None:
        for name in names:
            if not self._session.may_read(name):
                raise Refused(Reason.NOT_PERMITTED, ".".join(name))


def _names(grouped: Grouped) -> Iterable[tuple[str, ...]]:
    """Return the tables and views that a query reads."""
    inner = (name for _, each in grouped.constants for name in _names(each))
    return dict.fromkeys([*_names_of(scans(grouped.plan)), *inner])


def _names_of(every: Sequence[Scan]) -> Iterable[tuple[str, ...]]:
    return dict.fromkeys([*(scan.table for scan in every), *(view.name for scan in every for view in scan.views)])
