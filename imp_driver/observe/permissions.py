"""What of the shared sketches a connection may be told: those of tables and views that its own session may read."""

from __future__ import annotations

from collections.abc import Iterable

from imp_driver.maintain.entry import StateEntry
from imp_driver.plan.nodes import scans
from imp_driver.ports import Session


class Permissions:
    """Asks a session about each name once; made for one command, since a permission may be taken away."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[tuple[str, ...], bool] = {}

    def may_read(self, name: tuple[str, ...]) -> bool:
        if name not in self._known:
            self._known[name] = self._session.may_read(name)
        return self._known[name]

    def visible(self, entries: Iterable[StateEntry]) -> tuple[StateEntry, ...]:
        """Return the entries whose every table and view may be read."""
        return tuple(entry for entry in entries if all(map(self.may_read, _names(entry))))


def _names(entry: StateEntry) -> set[tuple[str, ...]]:
    """Return the names that a state depends on; before its first capture only the table that is cut is known."""
    if entry.block is None:
        return {tuple(entry.table.split("."))}
    every = scans(entry.block.source)
    return {scan.table for scan in every} | {view.name for scan in every for view in scan.views}
