"""Which attribute the states of each template are cut on, remembered from query to query."""

from __future__ import annotations

from collections.abc import Iterable

from imp_driver.bounded import Bounded
from imp_driver.dataflow.aggregate.group import GroupState
from imp_driver.maintain.alternatives import better_choice
from imp_driver.maintain.choice import Choice, choose
from imp_driver.maintain.request import Request
from imp_driver.parse.supported import Grounds, Refused
from imp_driver.snapshot.vector import Vector, vector_of

MOST_TEMPLATES = 10_000
"""Of which it is remembered what they are cut on, or why on nothing."""


class Choices:
    """Safe to use from several threads."""

    def __init__(self) -> None:
        self._known: Bounded[str, Choice] = Bounded(MOST_TEMPLATES)
        self._settled: Bounded[str, bool] = Bounded(MOST_TEMPLATES)
        self._unclustered: Bounded[str, tuple[Vector, Grounds]] = Bounded(MOST_TEMPLATES)

    def known(self, template: str) -> Choice | None:
        """Return what was chosen for a template."""
        return self._known.get(template)

    def learn(self, templates: Iterable[str], choice: Choice) -> None:
        """Take over the choice of a former process for templates that have none."""
        for template in templates:
            self._known.get_or_add(template, lambda: choice)

    def of(self, request: Request, *, is_cut: bool) -> Choice:
        """Return the choice for a template that has states (``is_cut``); without one it is made by the files as they are now.

        Raises:
            Refused: the files are clustered by no safe attribute.
        """
        template, vector = request.template.identifier, vector_of(request.tables)
        known = self._known.get(template)
        if known is not None and is_cut and known.fits(request):
            return known
        unclustered = self._unclustered.get(template)
        if unclustered is not None and unclustered[0] == vector:
            raise Refused.on(unclustered[1])
        try:
            found = self._known[template] = choose(request)
        except Refused as refused:
            self._unclustered[template] = (vector, refused.grounds)
            raise
        return found

    def reconsidered(self, request: Request, state: GroupState, choice: Choice) -> Choice | None:
        """Return another key for the template's next state, once, if that reads less by the state that was just captured."""
        template = request.template.identifier
        if template in self._settled:
            return None
        self._settled[template] = True
        better = better_choice(request, state, choice)
        if better is not None:
            self._known[template] = better
        return better
