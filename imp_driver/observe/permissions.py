"""What of the shared sketches a connection may be told: those of tables and views that its own session may read."""

from __future__ import annotations

from collections.abc import Iterable

from imp_driver.maintain.entry import StateEntry
from imp_driver.parse.template import VIEW_MARK
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
        """Return the entries whose every table and view is known and may be read."""
        named = ((entry, _names(entry)) for entry in entries)
        return tuple(entry for entry, names in named if names is not None and all(map(self.may_read, names)))


def _names(entry: StateEntry) -> set[tuple[str, ...]] | None:
    """Return the names that a state depends on; None for one of a former process over views, of which only the text is known."""
    if entry.block is not None:
        every = scans(entry.block.source)
        return {scan.table for scan in every} | {view.name for scan in every for view in scan.views}
    if VIEW_MARK in entry.template_text:
        return None
    # Of the other tables of a restored state only the places are known.
    return {tuple(entry.table.split(".")), *(("delta", location) for location in entry.vector if location != entry.location)}
