"""The state of one template's block for one set of row conditions: what the operators keep, at which table version."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pyarrow as pa

from imp_driver.delta.coverage import FileFragments
from imp_driver.operators.aggregate.group import GroupState
from imp_driver.reasons import Reason


@dataclass(slots=True, eq=False)
class Counters:
    """How often an entry was used, for SHOW SKETCHES."""

    captures: int = 0
    maintained: int = 0
    uses: int = 0
    delta_rows: int = 0


@dataclass(frozen=True, slots=True)
class CaptureFailure:
    """Why there is no state; ``version`` is the table version at which another try would fail again, None for every version."""

    reason: Reason
    detail: str
    version: int | None


@dataclass(slots=True, eq=False)
class StateEntry:
    """Mutable; ``lock`` is held while the state is captured, maintained or read.

    Attributes:
        table_rows: rows of the whole table at ``version`` by its statistics, carried along to check the change feed; None when unknown.
        deep_buffers: shallow buffers of minima or maxima ran dry before, so the next capture takes deep ones.
        failure: why the last capture failed.
    """

    identifier: str
    key: str
    template: str
    template_text: str
    table: str
    location: str
    attribute: str
    lock: threading.RLock = field(default_factory=threading.RLock)
    state: GroupState | None = None
    key_types: tuple[pa.DataType, ...] = ()
    table_id: str = ""
    version: int = -1
    table_rows: int | None = None
    file_fragments: tuple[int, FileFragments] | None = None
    deep_buffers: bool = False
    failure: CaptureFailure | None = None
    counters: Counters = field(default_factory=Counters)

    @property
    def memory(self) -> int:
        return 0 if self.state is None else self.state.memory
