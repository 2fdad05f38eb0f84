"""A maintained relation -> a copy of it that stands for tables as they would be; the relation itself stays as it is."""

from __future__ import annotations

from dataclasses import replace

from imp_driver.maintain.request import Request
from imp_driver.maintain.step import apply_rows, planned, read_rows
from imp_driver.maintain.upkeep import Means, Upkeep
from imp_driver.reasons import Reason
from imp_driver.state.maintained import Maintained
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import ChangesUnavailable
from imp_driver.what_if.source import SupposedSource


class Forks:
    """Steps copies of relations by the changes of one hypothesis."""

    def __init__(self, source: SupposedSource) -> None:
        self._source = source

    def concerns(self, request: Request) -> bool:
        return any(self._source.is_changed(each.location) for each in request.tables)

    def stepped(self, request: Request, relation: Maintained, means: Means) -> tuple[Request, Maintained, Upkeep]:
        """Return the request at the supposed versions, and a relation that stands for them; the caller holds the one that is copied.

        Raises Refused where the changes cannot be followed.
        """
        supposed = replace(request, snapshots={name: self._source.snapshot(each.location) for name, each in request.snapshots.items()})
        fork = relation.forked()
        try:
            step = read_rows(fork, supposed, planned(fork, supposed, self._source), self._source, means.read)
            return supposed, fork, apply_rows(fork, supposed, step, means)
        except ChangesUnavailable as unavailable:
            raise Refused(
                Reason.NOT_SUPPOSED, f"{unavailable.reason.name}: {unavailable.detail or unavailable.reason.value}"
            ) from unavailable
