"""Open the path of one connection: its session, and what connections to the same warehouse share."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, ref

from imp_driver.delta.tables import DeltaTables
from imp_driver.errors import NotSupportedError
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
from imp_driver.refresher import Refresher
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options

_LOG = logging.getLogger("imp_driver")
_lock = threading.Lock()
_source = DeltaTables()
_shared: dict[tuple[str, str], Sketches] = {}
_of_sessions: WeakKeyDictionary[object, dict[str, Sketches]] = WeakKeyDictionary()
"""Of sessions of the application, by store: they go with the session."""
_refreshers: WeakKeyDictionary[Sketches, Refresher] = WeakKeyDictionary()


def open_pipeline(options: Options, session: object | None) -> Observed:
    """Open an embedded session or one at a server, or wrap the application's own.

    Sketches are shared by all connections of the process to one warehouse, or of one user to a server: they are a cache keyed by table
    identity, settings and statement, so nothing of one connection shows in another but speed.

    Raises:
        InterfaceError, OperationalError, NotSupportedError: the session cannot be opened, or a library cannot be used.
    """
    check_installation()
    opened, key, folder = _opened(options, session)
    observer = observer_of(folder)
    with _lock:
        sketches = _sketches(session, key, options, folder, observer.metrics)
    if options.memory not in (Options().memory, sketches.relations.registry.memory_budget):
        message = "memory=%d is not used: other connections of this process to the warehouse share its sketches, with memory=%d."
        _LOG.warning(message, options.memory, sketches.relations.registry.memory_budget)
    middleware = Middleware(opened, _source, sketches, options, _refreshed(options, session, sketches))
    # The counters outlive a session of the application, whose sketches do not.
    shared = ref(sketches)
    observer.connect(f"{key or id(sketches)} {options.store}", lambda: {} if (found := shared()) is None else found.relations.gauges())
    return Observed(middleware, observer, Spans(with_text=options.trace_query_text))


def _opened(options: Options, session: object | None) -> tuple[Session, str, Path | None]:
    """Open a session; return what names its warehouse or server, and the folder of an embedded one."""
    # pyspark takes a second to import; a process that only imports the driver does not pay for it.
    if session is not None:
        from imp_driver.spark.application_session import open_session as open_owned

        return open_owned(session, options), "", None
    if options.server is not None:
        from imp_driver.spark.connect import open_session as open_connect

        # Users of a server may see different rows of a table.
        user = hashlib.sha256(repr((options.user_id, options.token)).encode()).hexdigest()
        return open_connect(options), f"server {options.server} {user}", None
    from imp_driver.spark.local import open_session as open_embedded

    folder = Path(str(options.warehouse)).expanduser().resolve()
    return open_embedded(options), str(folder), folder


def _refreshed(options: Options, session: object | None, sketches: Sketches) -> Callable[[], None]:
    """Have materialized views refreshed by themselves while an eager connection is open; return what is to be done when it is closed."""
    if options.sketch is not SketchMode.EAGER:
        return lambda: None

    def path() -> Middleware:
        another: Any = session
        if session is not None and not hasattr(session, "newSession"):
            raise NotSupportedError("a Spark Connect session of the application has no second one beside it")
        own = replace(options, sketch=SketchMode.LAZY)
        return Middleware(_opened(own, session if session is None else another.newSession())[0], _source, sketches, own)

    with _lock:
        refresher = _refreshers.setdefault(sketches, Refresher(sketches.relations.views.schedule))
    refresher.open(path)
    return refresher.close


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
