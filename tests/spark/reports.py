"""What a test asks of the cursor that ran its query."""

from __future__ import annotations

import imp_driver
from imp_driver.values.report import SketchReport


def report_of(cursor: imp_driver.Cursor) -> SketchReport:
    assert cursor.sketch_report is not None
    return cursor.sketch_report
