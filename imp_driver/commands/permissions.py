"""What of the shared sketches a connection may be told: those of tables and views that its own session may read."""

from __future__ import annotations

from collections.abc import Iterable

from imp_driver.parse.template import VIEW_MARK
from imp_driver.plan.nodes import scans
from imp_driver.ports import Session
from imp_driver.state.graph_states import GraphState
from imp_driver.state.maintained import Maintained
from imp_driver.values.view_policy import TRIED


class Permissions:
    """Asks a session about each name once; made for one command, since a permission may be taken away."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[tuple[str, ...], bool] = {}

    def may_read(self, name: tuple[str, ...]) -> bool:
        if name not in self._known:
            self._known[name] = self._session.may_read(name)
        return self._known[name]

    def visible(self, relations: Iterable[Maintained]) -> tuple[Maintained, ...]:
        """Return the relations whose every table and view is known and may be read."""
        named = ((relation, _names(relation)) for relation in relations)
        return tuple(relation for relation, names in named if names is not None and all(map(self.may_read, names)))

    def visible_graphs(self, states: Iterable[GraphState]) -> tuple[GraphState, ...]:
        """Return the states of queries over graphs whose every table may be read."""
        return tuple(state for state in states if all(map(self.may_read, state.tables)))


def _names(relation: Maintained) -> set[tuple[str, ...]] | None:
    """Return the names that a relation depends on; None for one of a former process over views, of which only the text is known."""
    identity = relation.identity
    if relation.block is not None:
        every = scans(relation.block.source)
        views = {view.name for scan in every for view in scan.views}
        # Views that were tried are no more; the tables are those of the views that are there.
        return {scan.table for scan in every} | {name for name in views if not name[-1].startswith(TRIED)}
    if VIEW_MARK in identity.template_text:
        return None
    # Of the other tables of a restored state only the places are known.
    return {tuple(identity.table.split(".")), *(("delta", location) for location in relation.vector if location != identity.location)}
