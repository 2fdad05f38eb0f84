"""How the rows of an incremental view are kept: the word of its definition, which the catalog has as a property of the view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

PROPERTY = "imp.view.policy"
"""Of a view in the catalog, which any other client reads as the ordinary view that it is; of a materialized one, which is a table."""
QUERY, NAMESPACE = "imp.view.query", "imp.view.namespace"
"""Of the table of a materialized view: its SELECT, which a recursive view has too, and the schema in which the names of that are found."""
PROVENANCE = "imp.view.provenance"
"""Of a recursive view of which it is kept why each row is there."""
SPARQL = "imp.view.sparql"
"""Of a view whose query was written in SPARQL: that text; the view's own is its translation."""
SHOWN = "SELECT __imp_rows.* FROM (SELECT raise_error("
"""Begins what the catalog has as the text of a recursive view; one whose text was changed since is none any more."""
SHOWN_END = ") AS __imp_rows ON __imp_told.told IS NULL"
"""Ends it."""
SECONDS = "imp.view.every_seconds"
"""Of a materialized view that is refreshed so often while a connection with ``sketch=eager`` is open."""

TRIED = "__imp_tried_"
"""Begins the name under which a view is made before it takes the place of another one."""


def recursive_query(text: str | None, properties: Mapping[str, str]) -> str | None:
    """Return the own query of a recursive view by what the catalog has of it, its text and its properties; None for any other view."""
    is_one = text is not None and text.startswith(SHOWN) and PROPERTY in properties
    return properties.get(QUERY) if is_one else None


class ViewPolicy(Enum):
    """What may happen when the tables below a view change; the strictest first."""

    STRICT = "its changes are followed; what cannot be followed is an error"
    INCREMENTAL = "its changes are followed whatever that costs; what cannot be followed is captured again"
    AUTO = "its changes are followed where that pays, else captured again"
    FULL = "it is captured again after each change"

    @property
    def is_followed(self) -> bool:
        """Whether a view is refused at once that could only be captured again."""
        return self in (ViewPolicy.STRICT, ViewPolicy.INCREMENTAL)


def policy_named(word: str | None) -> ViewPolicy | None:
    """Return the policy of a view by the word in the catalog, in any case; an unknown one is AUTO, none is that of no incremental view."""
    return None if word is None else ViewPolicy.__members__.get(word.strip().upper(), ViewPolicy.AUTO)


def strictest(policies: Iterable[ViewPolicy]) -> ViewPolicy | None:
    """Return the policy that holds for rows which several views have in common; None for those of no view."""
    wanted = frozenset(policies)
    return next((each for each in ViewPolicy if each in wanted), None)
