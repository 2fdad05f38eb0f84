"""A warehouse of a process whose files are nobody else's."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

_SCRIPT = """
import os, sys
os.umask(0o077)
import imp_driver
with imp_driver.connect(warehouse=sys.argv[1], cores=1, driver_memory="1g") as connection:
    connection.execute("CREATE TABLE t (g INT, s STRING) USING DELTA").close()
    connection.cursor().executemany("INSERT INTO t VALUES (?, ?)", [(1, "a"), (2, "b")])
    connection.execute("OPTIMIZE t").close()
    print(connection.execute("SELECT count(*) FROM t").fetchone()[0])
"""


def test_files_of_a_warehouse_are_the_users_alone_where_the_umask_says_so(tmp_path: Path) -> None:
    """In a folder whose name is as odd as names may be."""
    house = tmp_path / 'od\'d "na`me" #%20 $x \u00e9\U0001f600'
    path = os.pathsep.join(sys.path)
    run = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(house)], capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path}
    )
    assert run.stdout == "2\n", run.stderr
    open_to_others = [str(each) for each in [house, *house.rglob("*")] if stat.S_IMODE(each.stat().st_mode) & 0o077]
    assert open_to_others == []
    assert any(each.suffix == ".parquet" for each in house.rglob("*"))
