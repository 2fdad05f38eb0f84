"""What the states of each template are cut by, remembered from query to query."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.maintain.alternatives import better_key
from imp_driver.maintain.choice import choose, is_clustered
from imp_driver.maintain.request import Request
from imp_driver.snapshot.vector import Vector, vector_of
from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.cuts import CutName
from imp_driver.values.refusal import Grounds, Refused

MOST_TEMPLATES = 10_000
"""Of which it is remembered what they are cut by, or why by nothing."""


class Choices:
    """Safe to use from several threads."""

    def __init__(self) -> None:
        self._known: BoundedCache[str, tuple[CutName, ...]] = BoundedCache(MOST_TEMPLATES)
        self._settled: BoundedCache[str, bool] = BoundedCache(MOST_TEMPLATES)
        self._unclustered: BoundedCache[str, tuple[Vector, Grounds]] = BoundedCache(MOST_TEMPLATES)
        self._looked_at: BoundedCache[str, Vector] = BoundedCache(MOST_TEMPLATES)

    def known(self, template: str) -> tuple[CutName, ...] | None:
        """Return what was chosen for a template."""
        return self._known.get(template)

    def learn(self, templates: Iterable[str], names: tuple[CutName, ...]) -> None:
        """Take over what a former process has cut by, for templates that have no choice: of several keys the newest."""
        keys = [name for name in names if name.key is not None]
        chosen = (*keys[-1:], *(name for name in names if name.key is None))
        for template in templates if chosen else ():
            self._known.get_or_add(template, lambda: chosen)

    def of_templates(self, templates: Iterable[str]) -> set[CutName]:
        """Return everything that is chosen for some templates."""
        return {name for template in templates for name in self._known.get(template) or ()}

    def leave_out(self, template: str, name: CutName) -> None:
        """Cut a template by one column less, one that saved nothing beside the first."""
        known = self._known.get(template) or ()
        if name in known[1:]:
            self._known[template] = tuple(each for each in known if each != name)

    def of(self, request: Request, *, is_cut: bool) -> tuple[CutName, ...]:
        """Return the choice for a template that has states (``is_cut``); without one it is made by the files as they are now.

        Where these are clustered by it no more, as after an OPTIMIZE by another column, it is made anew.

        Raises:
            Refused: the files are clustered by no safe attribute.
        """
        template, vector = request.template.identifier, vector_of(request.tables)
        known = self._known.get(template)
        if known is not None and is_cut and all(name.fragments == request.fragments and request.has_cut(name) for name in known):
            if self._looked_at.get(template) != vector and not is_clustered(request, known[0]):
                with suppress(Refused):
                    known = self._known[template] = choose(request)
            self._looked_at[template] = vector
            return known
        unclustered = self._unclustered.get(template)
        if unclustered is not None and unclustered[0] == vector:
            raise Refused.on(unclustered[1])
        try:
            found = self._known[template] = choose(request)
        except Refused as refused:
            self._unclustered[template] = (vector, refused.grounds)
            raise
        self._looked_at[template] = vector
        return found

    def reconsider(self, request: Request, state: GroupState) -> None:
        """Choose another key for the template's next queries, once, if that reads less by the state that was just captured."""
        template = request.template.identifier
        if template in self._settled:
            return
        self._settled[template] = True
        better = better_key(request, state)
        if better is not None:
            self._known[template] = (better,)
