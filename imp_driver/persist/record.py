"""What the store keeps of one state and its newest sketch, as values that know nothing of threads or tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import pyarrow as pa

from imp_driver.plan.written import WrittenBlock
from imp_driver.values.codes import IntegerArray
from imp_driver.values.cuts import AttachedCut
from imp_driver.values.fragments import FragmentSet

StateColumns: TypeAlias = Mapping[str, pa.Array]
"""Groups as ``CutGroups.snapshot`` gives them: columns over groups, and those named ``cell_{i}_*`` over the cells of the i-th cut."""


class StoreDamaged(Exception):
    """A record or a state cannot be read back; the message says which and why. What it held must be captured again."""


@dataclass(frozen=True, slots=True)
class StoredTable:
    """One table at the version that a state stands for.

    Attributes:
        rows: of the whole table by its statistics, None when unknown.
        digest: of the commit of this version; another history under the same table id and version has another one.
    """

    location: str
    table_id: str
    version: int
    rows: int | None
    digest: str


@dataclass(frozen=True, slots=True, eq=False)
class StoredSketch:
    """The sketch for one set of constants above the groups; ``rows`` per fragment, the NULL fragment last."""

    constants: str
    fragments: FragmentSet
    rows: IntegerArray


@dataclass(frozen=True, slots=True, eq=False)
class StoredCut:
    """What cuts a state, with the newest sketch by it."""

    cut: AttachedCut
    sketch: StoredSketch | None


@dataclass(frozen=True, slots=True)
class StoredBuckets:
    """Where a state is that is too large for memory: a Delta table at a version, in ``count`` buckets at most."""

    target: str
    version: int
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """One state with its cuts and their sketches, at one version of each of its tables.

    Attributes:
        key, family, prefix, source: hashes of what the state depends on (maintain/identity.py).
        templates: identifiers of all templates that it serves; ``template`` is that of the first.
        state: name of the columns of the state in the store.
        conditions: row conditions of the state as SQL, with which it is compared to others; None where they cannot be written.
        groups: of the state, to be compared when it is read back.
        bytes: of the state in memory.
        buckets: where the state is instead, when it is in buckets.
        learned: what its past has taught about costs; unknown names are ignored.
        block: which groups it has, as texts over their source; None where that cannot be written.
    """

    key: str
    family: str
    prefix: str
    template: str
    template_text: str
    templates: tuple[str, ...]
    table: str
    location: str
    tables: tuple[StoredTable, ...]
    cuts: tuple[StoredCut, ...]
    state: str
    conditions: tuple[str, ...] | None
    groups: int
    bytes: int
    learned: Mapping[str, object]
    buckets: StoredBuckets | None = None
    source: str = ""
    block: WrittenBlock | None = None


class Repository(Protocol):
    """Where records and states outlive a process. Methods may be called from several threads."""

    def version(self) -> int:
        """Return a number that changes with every change of the records; -1 before the first. Raises OperationalError."""

    def records(self) -> list[Record]:
        """Return all readable records; others are skipped with a warning. Raises OperationalError when there is no reading at all."""

    def load(self, record: Record) -> StateColumns:
        """Return the state of a record. Raises StoreDamaged when it is not there or not what was saved."""

    def save(self, records: Sequence[tuple[Record, StateColumns]]) -> None:
        """Write states, then the records that name them, each record instead of the former one of its key. Raises OperationalError."""

    def remove(self, keys: Sequence[str]) -> None:
        """Remove the records of some keys; unknown keys do no harm. Raises OperationalError."""
