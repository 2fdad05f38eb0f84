"""Configuration of the Superset under test: metadata in SQLite, one process, and a record of each statement that reaches the driver."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import imp_driver

HOME = Path(os.environ["SUPERSET_HOME"])
SECRET_KEY = "a key of these tests alone, of more than 32 bytes"
SQLALCHEMY_DATABASE_URI = f"sqlite:///{HOME / 'superset.db'}"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
# The first connection starts Spark.
TEST_DATABASE_CONNECTION_TIMEOUT = timedelta(minutes=5)

_execute = imp_driver.Cursor.execute


def _recorded(cursor: imp_driver.Cursor, operation: str, parameters: Any = None) -> imp_driver.Cursor:
    found = _execute(cursor, operation, parameters)
    report = cursor.sketch_report
    line = {
        "sql": operation,
        "decision": None if report is None else report.decision.name,
        "reason": None if report is None or report.reason is None else report.reason.name,
        "files": None if report is None else [report.files_kept, report.files_total],
    }
    with open(HOME / "statements.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    return found


setattr(imp_driver.Cursor, "execute", _recorded)  # noqa: B010 - a method of another class
