"""What former processes have maintained: relations from the store's records, and their groups read back when they are first needed.

Groups are believed only where the tables have, at their versions, the commits that they had then; else they are captured again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa

from imp_driver.dataflow.aggregate.accumulator import StateCorrupt
from imp_driver.errors import OperationalError
from imp_driver.persist.record import Record, Repository, StoreDamaged
from imp_driver.plan.bind import BoundBlock
from imp_driver.sketch.cut_groups import CutGroups
from imp_driver.sketch.sketch import Sketch
from imp_driver.state.costs import Costs
from imp_driver.state.maintained import Maintained
from imp_driver.state.registry import Registry
from imp_driver.state.sketches import Derived
from imp_driver.state.values import Identity, Stored
from imp_driver.values.failures import described
from imp_driver.values.tables import ChangeSource

LOOK_SECONDS = 5.0
"""Between two looks for what other processes have saved."""
_UNKNOWN = -2
_LOG = logging.getLogger("imp_driver.maintain")


class Recovery:
    """Brings relations back from a repository; without one there is nothing to bring back."""

    def __init__(
        self,
        registry: Registry,
        repository: Repository | None,
        source: ChangeSource,
        is_awaited: Callable[[str], bool] = lambda key: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``is_awaited`` says of a key whether this process is still to save something newer than the store has."""
        self._registry = registry
        self._repository = repository
        self._source = source
        self._is_awaited = is_awaited
        self._clock = clock
        self._seen: int | None = None
        self._looked = -LOOK_SECONDS
        self._lock = threading.Lock()

    def restored(self, *, is_missed: bool = False) -> list[Maintained]:
        """Take over records that are new since the last time; later than the first time only where a state is missed, and not often."""
        if self._repository is None or (self._seen is not None and not is_missed):
            return []
        with self._lock:
            if self._clock() - self._looked < LOOK_SECONDS:
                return []
            self._looked = self._clock()
            try:
                version = self._repository.version()
                records = [] if version == self._seen else self._repository.records()
            except OperationalError as error:
                _LOG.warning("Sketches of former sessions cannot be used: %s", error)
                version, records = -1, []
            self._seen = version
            found = [_relation(record) for record in records if not self._is_awaited(record.key)]
            return [relation for relation in found if self._registry.add(relation)]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Take over no records meanwhile."""
        with self._lock:
            yield

    def look_again(self) -> None:
        """Have the records read again when a state is missed next: relations were dropped that the store may have."""
        self._seen = _UNKNOWN

    def prove(self, relation: Maintained) -> bool:
        """Say whether restored groups and their sketch are of the tables' present history; those that are not are given up."""
        stored = relation.stored
        if relation.is_proven or stored is None:
            return True
        for table in stored.record.tables:
            if self._source.commit_digest(table.location, table.version) != table.digest:
                message = "Sketch %s is of another history of %s, or of one that is gone; it is captured again."
                _LOG.info(message, relation.identifier, table.location)
                relation.invalidated()
                return False
        relation.proven()
        return True

    def load(self, relation: Maintained, block: BoundBlock) -> bool:
        """Read groups back; the caller holds the relation. False, with the relation given up, when they cannot be had."""
        stored = relation.stored
        if stored is None or self._repository is None or not self.prove(relation):
            return False
        try:
            groups, key_types = self._read(self._repository, stored.record, block)
        except (StoreDamaged, StateCorrupt, LookupError, TypeError, ValueError, pa.ArrowException) as error:
            problem = error if isinstance(error, StoreDamaged) else described(error)
            _LOG.warning("A stored state cannot be used and is captured again: %s", problem)
            relation.invalidated()
            return False
        relation.restored(groups, block, key_types)
        return True

    def _read(self, repository: Repository, record: Record, block: BoundBlock) -> tuple[CutGroups, tuple[pa.DataType, ...]]:
        columns = repository.load(record)
        key_types = tuple(columns[f"key_{place}"].type for place in range(len(block.keys)))
        specifications = tuple(aggregate.specification for aggregate in block.aggregates)
        cuts = [(each.cut.name, each.cut.partition, each.cut.attribute) for each in record.cuts]
        found = CutGroups.restore(columns, specifications, key_types, cuts)
        if found.state.groups != record.groups:
            raise StoreDamaged(f"the state of sketch {record.key} has {found.state.groups} groups instead of {record.groups}")
        return found, key_types


def _relation(record: Record) -> Maintained:
    identity = Identity(
        key=record.key,
        template=record.template,
        template_text=record.template_text,
        table=record.table,
        location=record.location,
        family=record.family,
        prefix=record.prefix,
        source=record.source,
    )
    relation = Maintained(identity, Stored.of(record), _costs(record), record.templates)
    versions = {location: table.version for location, table in relation.vector.items()}
    for stored in record.cuts:
        if stored.sketch is not None:
            sketch = Sketch(versions, stored.cut.attribute, stored.cut.partition, stored.sketch.fragments)
            relation.sketches(stored.cut.name).add(Derived(relation.vector, stored.sketch.constants, sketch, stored.sketch.rows))
    return relation


def _costs(record: Record) -> Costs:
    try:
        return Costs.of(record.learned)
    except (TypeError, ValueError):
        _LOG.warning("What was learned about sketch %s cannot be read; it is learned anew.", record.key[:12])
        return Costs()
