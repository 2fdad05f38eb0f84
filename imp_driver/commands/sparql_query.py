"""SPARQL: the queries of a connection."""

from __future__ import annotations

from collections.abc import Sequence

from imp_driver.errors import NotSupportedError
from imp_driver.ports import Outcome
from imp_driver.sparql.algebra import Pattern
from imp_driver.sparql.terms import Term
from imp_driver.values.execution import Execution


class SparqlQueries:
    """The queries of one connection in SPARQL."""

    def run(self, text: str, execution: Execution) -> Outcome:
        """Return the solutions of a query. Raises NotSupportedError."""
        raise NotSupportedError("Queries of SPARQL are not answered yet.")

    def explain(self, text: str, execution: Execution) -> Outcome:
        """Return how a query would be answered. Raises NotSupportedError."""
        raise NotSupportedError("Queries of SPARQL are not explained yet.")

    def solutions(self, pattern: Pattern, execution: Execution) -> Sequence[Sequence[Term | None]]:
        """Return the solutions of a pattern now, over ``variables(pattern)``. Raises NotSupportedError."""
        raise NotSupportedError("Patterns of SPARQL are not answered yet.")
