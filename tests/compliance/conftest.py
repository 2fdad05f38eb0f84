"""SQLAlchemy's own compliance suite on one warehouse. It needs a run of its own, since its plugin takes over the collection."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError
from sqlalchemy import event
from sqlalchemy.testing import provision
from sqlalchemy.testing.plugin import pytestplugin
from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: F403

from tests import jvm
from tests.compliance.requirements import CLOSED, SKIPPED, Why
from tests.seeds import SEED, WIDE

_MARKERS = ("backend", "sparse_backend", "sparse_driver_backend", "memory_intensive", "timing_intensive", "mypy")
_ONE_IN = {
    "ComponentReflectionTest_": 12,
    "JSONTest_": 12,
    "BizarroCharacterTest_": 4,
    "DifficultParametersTest_": 4,
    "TableViaSelectTest_": 4,
}
"""Of classes whose tests have many combinations of arguments, of how many one is tried."""
jvm.optimise()
_FOLDER = tempfile.TemporaryDirectory(prefix="imp_compliance_")


def pytest_configure(config: Any) -> None:  # type: ignore[no-redef]
    for marker in _MARKERS:
        config.addinivalue_line("markers", f"{marker}: of SQLAlchemy's suite")
    # The suite rolls back after tests that changed something, and empties the tables itself.
    config.addinivalue_line("filterwarnings", "ignore::imp_sqlalchemy.RollbackIgnored")
    # Some of its tests drop an engine without disposing of it; the driver warns of each connection that was not closed.
    config.addinivalue_line("filterwarnings", "ignore:A connection was not closed:ResourceWarning")
    # Some of its queries without an order expect the one that a single task leaves.
    config.option.dburi = config.option.dburi or [f"imp:///{_FOLDER.name}/warehouse?sketch=shadow&cores=1"]
    pytestplugin.pytest_configure(config)


def pytest_collection_modifyitems(session: Any, config: Any, items: list[pytest.Item]) -> None:  # type: ignore[no-redef]
    pytestplugin.pytest_collection_modifyitems(session, config, items)
    _thin_out(config, items)
    for item in items:
        why = next((reason for pattern, reason in SKIPPED.items() if _names(pattern, item)), None)
        if why is not None:
            item.add_marker(pytest.mark.skip(reason=f"{why[0].value}: {why[1]}"))


def _thin_out(config: Any, items: list[pytest.Item]) -> None:
    """Keep of the many combinations of arguments in the classes of ``_ONE_IN`` the first of each test and those of the day."""
    if WIDE:
        return
    seen: Counter[str] = Counter()
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        kind, name = item.nodeid.split("::")[1], item.name.partition("[")[0]
        share = next((share for start, share in _ONE_IN.items() if kind.startswith(start)), 1)
        place, seen[name] = seen[name], seen[name] + 1
        (kept if place == 0 or (place + SEED) % share == 0 else left_out).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


def _names(pattern: str, item: pytest.Item) -> bool:
    """SQLAlchemy adds the name of the database to those of classes."""
    kind = item.getparent(pytest.Class)
    name = f"{kind.name.split('_imp+')[0] if kind is not None else ''}.{item.name}"
    return re.fullmatch(re.escape(pattern).replace(re.escape("*"), ".*"), name) is not None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what the suite asked and what it did not."""
    counts = {kind: len(terminalreporter.stats.get(kind, ())) for kind in ("passed", "skipped", "failed", "error", "deselected")}
    terminalreporter.write_line(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    for what, reasons in (("requirements closed", CLOSED), ("single tests left out", SKIPPED)):
        found = Counter(why for why, _ in reasons.values())
        terminalreporter.write_line(f"{what}: " + ", ".join(f"{found[why]} {why.value}" for why in Why))


def pytest_unconfigure(config: Any) -> None:  # type: ignore[no-redef]
    pytestplugin.pytest_unconfigure(config)
    _FOLDER.cleanup()


@provision.post_configure_engine.for_db("imp")  # type: ignore[untyped-decorator]
def _make_schema(url: Any, engine: Any, follower_ident: Any) -> None:
    """Make the schema that the suite expects beside the default one."""

    @event.listens_for(engine, "first_connect")
    def make(connection: Any, record: Any) -> None:
        connection.execute("CREATE SCHEMA IF NOT EXISTS test_schema").close()


@provision.delete_from_all_tables.for_db("imp")  # type: ignore[untyped-decorator]
def _empty(connection: sa.Connection, cfg: Any, metadata: sa.MetaData) -> None:
    """Empty the tables after a test as another writer would, which takes hundredths of what a DELETE by Spark takes."""
    warehouse = Path(_FOLDER.name, "warehouse")
    for table in metadata.tables.values():
        folder = warehouse.joinpath(f"{table.schema}.db" if table.schema else "", table.name.lower())
        if folder.joinpath("_delta_log").exists() and DeltaTable(folder).file_uris():
            try:
                DeltaTable(folder).delete()
            except CommitFailedError:
                # A table with identity columns is for Spark alone.
                connection.execute(table.delete())
