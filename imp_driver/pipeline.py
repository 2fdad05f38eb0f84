"""Open the path of one connection: its session, and what connections to the same warehouse share."""

from __future__ import annotations

import hashlib
import logging
import threading
from pathlib import Path
from weakref import WeakKeyDictionary, ref

from imp_driver.delta.tables import DeltaTables
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.observe.instrumentation import Observed
from imp_driver.observe.metrics import Metrics
from imp_driver.observe.registry import observer_of
from imp_driver.observe.spans import Spans
from imp_driver.parse.dialect import check_installation
from imp_driver.persist.tables import DeltaRepository
from imp_driver.ports import Session
from imp_driver.values.options import Options

_LOG = logging.getLogger("imp_driver")
_lock = threading.Lock()
_source = DeltaTables()
_shared: dict[tuple[str, str], Sketches] = {}
_of_sessions: WeakKeyDictionary[object, dict[str, Sketches]] = WeakKeyDictionary()
"""Of sessions of the application, by store: they go with the session."""


def open_pipeline(options: Options, session: object | None) -> Observed:
    """Open an embedded session or one at a server, or wrap the application's own.

    Sketches are shared by all connections of the process to one warehouse, or of one user to a server: they are a cache keyed by table
    identity, settings and statement, so nothing of one connection shows in another but speed.

    Raises:
        InterfaceError, OperationalError, NotSupportedError: the session cannot be opened, or a library cannot be used.
    """
    check_installation()
    # pyspark takes a second to import; a process that only imports the driver does not pay for it.
    opened: Session
    if session is not None:
        from imp_driver.spark.application_session import open_session as open_owned

        opened, key, folder = open_owned(session, options), "", None
    elif options.server is not None:
        from imp_driver.spark.connect import open_session as open_connect

        # Users of a server may see different rows of a table.
        user = hashlib.sha256(repr((options.user_id, options.token)).encode()).hexdigest()
        opened, key, folder = open_connect(options), f"server {options.server} {user}", None
    else:
        from imp_driver.spark.local import open_session as open_embedded

        opened, folder = open_embedded(options), Path(str(options.warehouse)).expanduser().resolve()
        key = str(folder)
    observer = observer_of(folder)
    with _lock:
        sketches = _sketches(session, key, options, folder, observer.metrics)
    if options.memory not in (Options().memory, sketches.relations.registry.memory_budget):
        message = "memory=%d is not used: other connections of this process to the warehouse share its sketches, with memory=%d."
        _LOG.warning(message, options.memory, sketches.relations.registry.memory_budget)
    middleware = Middleware(opened, _source, sketches, options)
    # The counters outlive a session of the application, whose sketches do not.
    shared = ref(sketches)
    observer.connect(f"{key or id(sketches)} {options.store}", lambda: {} if (found := shared()) is None else found.relations.gauges())
    return Observed(middleware, observer, Spans(with_text=options.trace_query_text))


def _sketches(session: object | None, key: str, options: Options, folder: Path | None, metrics: Metrics) -> Sketches:
    """Return the sketches that a connection shares with others, made by the first; the caller holds the lock."""

    def made() -> Sketches:
        workload, repository = None if folder is None else folder / "_imp" / "workload.jsonl", _repository(options.store, folder)
        buckets = None if repository is None else f"{repository.location}/buckets"
        return Sketches(Relations(_source, options.memory, repository, metrics, buckets), workload)

    if session is None:
        found = _shared.get((key, options.store))
        if found is None:
            found = _shared[key, options.store] = made()
        return found
    by_store = _of_sessions.setdefault(session, {})
    if options.store not in by_store:
        by_store[options.store] = made()
    return by_store[options.store]


def _repository(store: str, warehouse: Path | None) -> DeltaRepository | None:
    if store.lower() == "off" or (store.lower() == "auto" and warehouse is None):
        return None
    return DeltaRepository(str(warehouse / "_imp" / "store") if store.lower() == "auto" and warehouse is not None else store)
