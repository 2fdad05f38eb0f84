"""A pattern of SPARQL whose solutions follow the changes of the tables that it reads.

Source: "Incremental View Maintenance for SPARQL Queries: Adapting the Counting Algorithm". Each operator of the algebra is maintained by
itself, from the changes of its inputs to that of its own result.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter

from imp_driver.dataflow.mappings.build import Builder
from imp_driver.dataflow.mappings.graphs import Constants, Graphs, QuadRow
from imp_driver.dataflow.mappings.modifiers import Lister, modifiers_of
from imp_driver.dataflow.mappings.nodes import Nodes
from imp_driver.dataflow.mappings.operator import Delta, Limits, NotMaintained, Row, add_all
from imp_driver.errors import InternalError
from imp_driver.sparql.algebra import Distinct, Pattern, Project
from imp_driver.sparql.functions.labels import with_labels
from imp_driver.sparql.functions.volatile import at_one_moment, is_volatile

__all__ = ["MOST", "Circuit", "NotMaintained", "QuadRow", "Row"]

MOST = 20_000_000
"""Of tuples, in all operators together."""


@contextmanager
def _without_collection(*, is_load: bool) -> Iterator[None]:
    """Have no cycles looked for while a million tuples come: there are none among them, and each search visits all."""
    was_enabled = gc.isenabled()
    if is_load:
        gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Circuit:
    """Operators for a pattern, and all solutions.

    ORDER BY, OFFSET and LIMIT at the top of the pattern are for ``ordered`` alone: ``step`` and ``rows`` are about all solutions.

    Attributes:
        variables: columns of solutions: what the top selects, else all variables but hidden ones.
        rows: all solutions with their counts.
        is_lost: whether a step failed; such a circuit is to be made again.
    """

    def __init__(self, pattern: Pattern, most: int = MOST, *, is_once: bool = False, check: Callable[[], None] = lambda: None) -> None:
        """Make a circuit that knows of no rows yet.

        Args:
            most: how many tuples it keeps at most, see ``size``.
            check: raises where nobody waits for a step any more; the circuit is lost then.
            is_once: there will be one step, so that what has another value each time may be in the pattern.

        Raises:
            NotMaintained: the pattern cannot be followed.
        """
        if not is_once and is_volatile(pattern):
            raise NotMaintained("A function of the pattern has another value each time (NOW, RAND, UUID, STRUUID, BNODE).")
        self._most, self.is_lost, self._is_begun = most, False, False
        limits = Limits(most, check)
        self._graphs, self._nodes = Graphs(), Nodes(limits)
        builder = Builder(self._graphs, self._nodes, limits)
        modifiers = modifiers_of(with_labels(at_one_moment(pattern)) if is_once else pattern)
        self.variables = modifiers.columns
        shown: Pattern = Project(modifiers.pattern, self.variables)
        self._top = builder.build(Distinct(shown) if modifiers.is_distinct else shown)
        self._rows: dict[Row, int] = {}
        self._listed, self._listed_rows = self._top, self._rows
        if not modifiers.is_by_columns:
            # What the order reads is no longer there in what is shown.
            self._listed, self._listed_rows = builder.build(modifiers.pattern), {}
        self._lister = Lister(modifiers, self._nodes.variables(self._listed))

    @property
    def wanted(self) -> Mapping[str, tuple[Constants, ...]]:
        """Per table the subject, predicate and object of what is read, None for any: all other rows may be left out of ``step``."""
        return self._graphs.wanted

    @property
    def seconds(self) -> Mapping[str, float]:
        """What all steps have taken, by kind of operator; ``Graphs`` are the triples, ``Result`` the solutions at the top."""
        return self._nodes.seconds

    @property
    def rows(self) -> Delta:
        return self._rows

    @property
    def size(self) -> int:
        """How many tuples are kept, those of the graphs and of the result among them."""
        listed = 0 if self._listed_rows is self._rows else len(self._listed_rows)
        return self._graphs.size + self._nodes.size + len(self._rows) + listed

    def step(self, changes: Mapping[str, Mapping[QuadRow, int]]) -> Delta:
        """Take in signed rows of tables and return the signed solutions; the first step is the load.

        Raises:
            InternalError: the circuit is lost, or a row was deleted more often than it was there; it is lost from then on.
            NotMaintained: more is to be kept than is allowed; it is lost from then on.
        """
        if self.is_lost:
            raise InternalError("A step of this view has failed before. It must be made again.")
        self.is_lost = True
        with _without_collection(is_load=not self._is_begun):
            begin = perf_counter()
            self._graphs.step(changes)
            self._nodes.seconds["Graphs"] += perf_counter() - begin
            deltas = self._nodes.step()
        self._is_begun = True
        begin = perf_counter()
        add_all(self._rows, deltas[self._top])
        if self._listed_rows is not self._rows:
            add_all(self._listed_rows, deltas[self._listed])
        self._nodes.seconds["Result"] += perf_counter() - begin
        if self.size > self._most:
            raise NotMaintained(f"The operators would keep more than {self._most} tuples.")
        self.is_lost = False
        return deltas[self._top]

    def ordered(self) -> list[Row]:
        """Return the result as a list: each solution as often as it counts, by ORDER BY, after OFFSET and LIMIT.

        Solutions that ORDER BY does not tell apart stand by the text of their columns.
        """
        return self._lister.listed(self._listed_rows)
