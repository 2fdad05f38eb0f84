"""Open the path of one connection: its session, and what connections to the same warehouse share."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

from imp_driver.config import Options
from imp_driver.delta.tables import DeltaTables
from imp_driver.maintain.sketches import Sketches
from imp_driver.middleware import Middleware
from imp_driver.ports import Session

_lock = threading.Lock()
_source = DeltaTables()
_shared: dict[str, Sketches] = {}


def open_pipeline(options: Options, session: object | None) -> Middleware:
    """Open an embedded session or one at a server, or wrap the application's own.

    Sketches are shared by all connections of the process to one warehouse, or of one user to a server: they are a cache keyed by table
    identity, settings and statement, so nothing of one connection shows in another but speed.

    Raises:
        InterfaceError, OperationalError, NotSupportedError: the session cannot be opened.
    """
    # pyspark takes a second to import; a process that only imports the driver does not pay for it.
    opened: Session
    if session is not None:
        from imp_driver.spark.owned import open_session as open_owned

        opened, key, folder = open_owned(session, options), f"session {id(session)}", None
    elif options.server is not None:
        from imp_driver.spark.connect import open_session as open_connect

        # Users of a server may see different rows of a table.
        user = hashlib.sha256(repr((options.user_id, options.token)).encode()).hexdigest()
        opened, key, folder = open_connect(options), f"server {options.server} {user}", None
    else:
        from imp_driver.spark.local import open_session as open_embedded

        opened, folder = open_embedded(options), Path(str(options.warehouse)).expanduser().resolve()
        key = str(folder)
    with _lock:
        sketches = _shared.setdefault(
            key, Sketches(_source, options.memory, None if folder is None else folder / "_imp" / "workload.jsonl")
        )
    return Middleware(opened, _source, sketches, options)
