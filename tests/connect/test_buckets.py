"""A state beyond the memory budget on a Connect server: kernels travel from here to the server's workers."""

from __future__ import annotations

from pathlib import Path

import imp_driver
from imp_driver.reasons import Decision
from tests.connect.server import Server

SUMS = "SELECT g, sum(x) AS f, min(s) AS l FROM bucketed GROUP BY g HAVING sum(x) > ?"


def test_a_large_state_is_captured_changed_and_asked_at_the_server(server: Server, tmp_path: Path) -> None:
    with imp_driver.connect(f"{server.url}?sketch=shadow&memory=150000&store={tmp_path}/store") as connection:
        cursor = connection.cursor()
        rows = "SELECT CAST(id % 5000 AS INT) AS g, CAST(id % 7 AS INT) AS x, CAST(id AS STRING) AS s FROM range(20000)"
        cursor.execute(f"CREATE OR REPLACE TABLE bucketed AS SELECT /*+ REPARTITION_BY_RANGE(20, g) */ * FROM ({rows})")
        decisions = []
        for change, value in ((None, 18), ("INSERT INTO bucketed VALUES (17, 100, 'a'), (NULL, 40, NULL)", 18), (None, 17)):
            if change is not None:
                cursor.execute(change)
            cursor.execute(SUMS, [value]).fetchall()
            assert cursor.sketch_report is not None
            decisions.append(cursor.sketch_report.decision)
        assert decisions == [Decision.CAPTURED, Decision.MAINTAINED, Decision.FRESH]
        names = [name for name, *_ in cursor.execute("SHOW SKETCHES").description or ()]
        [row] = cursor.fetchall()
        assert dict(zip(names, row, strict=True))["lives_in"].startswith("buckets")
