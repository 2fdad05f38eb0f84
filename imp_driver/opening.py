"""Open the path of one connection: its session, and what connections to the same warehouse share."""

from __future__ import annotations

import threading
from pathlib import Path

from imp_driver.config import Options
from imp_driver.delta.tables import DeltaTables
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.persist.tables import DeltaRepository

_lock = threading.Lock()
_source = DeltaTables()
_shared: dict[tuple[str, str], Sketches] = {}


def open_pipeline(options: Options, session: object | None) -> Middleware:
    """Open an embedded session, or wrap the application's own.

    Sketches are shared by all connections of the process to one warehouse: they are a cache keyed by table identity, settings and
    statement, so nothing of one connection shows in another but speed.

    Raises:
        InterfaceError, OperationalError, NotSupportedError: the session cannot be opened.
    """
    # pyspark takes a second to import; a process that only imports the driver does not pay for it.
    from imp_driver.spark.local import open_session as open_embedded
    from imp_driver.spark.owned import open_session as open_owned

    opened = open_embedded(options) if session is None else open_owned(session)
    folder = None if session is not None else Path(str(options.warehouse)).expanduser().resolve()
    key = f"session {id(session)}" if folder is None else str(folder)
    with _lock:
        sketches = _shared.get((key, options.store))
        if sketches is None:
            workload = None if folder is None else folder / "_imp" / "workload.jsonl"
            sketches = _shared[key, options.store] = Sketches(_source, options.memory, workload, _repository(options.store, folder))
    return Middleware(opened, _source, sketches, options)


def _repository(store: str, warehouse: Path | None) -> DeltaRepository | None:
    if store.lower() == "off" or (store.lower() == "auto" and warehouse is None):
        return None
    return DeltaRepository(str(warehouse / "_imp" / "store") if store.lower() == "auto" and warehouse is not None else store)
