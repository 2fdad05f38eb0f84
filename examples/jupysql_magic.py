"""``%sql`` in a notebook: JupySQL's magic over an engine of ``imp://``, here in a shell of IPython as a notebook has it."""

from __future__ import annotations

import sys
from typing import Any

import sqlalchemy as sa
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

# JupySQL imports Spark Connect's frames where it finds PySpark, and only the lack of that module, not of its packages (grpcio ..), is fine.
sys.modules.setdefault("pyspark.sql.connect.dataframe", None)  # type: ignore[arg-type]

CELLS = (
    "CREATE OR REPLACE TABLE example_magic (shop INT, price DOUBLE) USING DELTA",
    "INSERT INTO example_magic SELECT CAST(id DIV 10 AS INT), CAST(id AS DOUBLE) FROM range(500)",
    "SELECT shop, sum(price) AS total\nFROM example_magic\nGROUP BY shop HAVING sum(price) > :low\nORDER BY total DESC LIMIT 3",
)


def main(warehouse: str) -> Any:
    """Run the cells of a notebook; return the rows of the last one."""
    engine = sa.create_engine(f"imp:///{warehouse}?sketch=lazy", isolation_level="AUTOCOMMIT")
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    shell.user_ns.update(engine=engine, low=4500)
    # ``%sql imp:///warehouse`` does as well; with an engine that is known to commit every statement there is no warning at its end.
    for line in ("load_ext sql", "config SqlMagic.named_parameters = 'enabled'", "sql engine --alias shop"):
        shell.run_line_magic(*line.split(" ", 1))
    for cell in CELLS:
        rows = shell.run_cell_magic("sql", "", cell)
    print(rows)
    found = list(rows)
    shell.run_line_magic("sql", "--close shop")
    engine.dispose()
    return found


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "quickstart-warehouse")
