"""SQLAlchemy's own compliance suite on one warehouse. It needs a run of its own, since its plugin takes over the collection."""

from __future__ import annotations

import tempfile
from typing import Any

from sqlalchemy import event
from sqlalchemy.testing import provision
from sqlalchemy.testing.plugin import pytestplugin
from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: F403

_MARKERS = ("backend", "sparse_backend", "sparse_driver_backend", "memory_intensive", "timing_intensive", "mypy")
_FOLDER = tempfile.TemporaryDirectory(prefix="imp_compliance_")


def pytest_configure(config: Any) -> None:  # type: ignore[no-redef]
    for marker in _MARKERS:
        config.addinivalue_line("markers", f"{marker}: of SQLAlchemy's suite")
    # The suite rolls back after tests that changed something, and empties the tables itself.
    config.addinivalue_line("filterwarnings", "ignore::imp_sqlalchemy.RollbackIgnored")
    config.option.dburi = config.option.dburi or [f"imp:///{_FOLDER.name}/warehouse?sketch=shadow"]
    pytestplugin.pytest_configure(config)


def pytest_unconfigure(config: Any) -> None:  # type: ignore[no-redef]
    pytestplugin.pytest_unconfigure(config)
    _FOLDER.cleanup()


@provision.post_configure_engine.for_db("imp")  # type: ignore[untyped-decorator]
def _make_schema(url: Any, engine: Any, follower_ident: Any) -> None:
    """Make the schema that the suite expects beside the default one."""

    @event.listens_for(engine, "first_connect")
    def make(connection: Any, record: Any) -> None:
        connection.execute("CREATE SCHEMA IF NOT EXISTS test_schema").close()
