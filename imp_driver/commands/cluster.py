"""CLUSTER SKETCH TABLE: which statements write a table's rows anew, clustered by a column."""

from __future__ import annotations

from imp_driver.errors import Error, NotSupportedError, ProgrammingError
from imp_driver.parse.clustering import (
    Columns,
    clustered_sql,
    files_for,
    found_column,
    read_clustering,
    statistics_property,
)
from imp_driver.ports import RelationKind, Session
from imp_driver.values.execution import Execution
from imp_driver.values.quoting import qualified

_OWN_LAYOUTS = (
    ("partitionColumns", "is partitioned", "OPTIMIZE .. ZORDER BY"),
    ("clusteringColumns", "has CLUSTER BY", "ALTER TABLE .. CLUSTER BY and OPTIMIZE .. FULL"),
)
_IDENTITY = "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED"


def cluster_statements(argument: str, session: Session, execution: Execution) -> list[str]:
    """Return the statements to run one after the other; the last one rewrites the rows in one commit, the table stays what it is.

    Raises:
        ProgrammingError: no such table or column, or the command cannot be read.
        NotSupportedError: the table has a layout of its own, or is no Delta table.
    """
    wanted = read_clustering(argument)
    name = _delta_table(wanted.table, session)
    detail = session.read(f"DESCRIBE DETAIL {name}", execution).to_pylist()[0]
    columns = columns_of(session, name, execution)
    column = found_column(columns, wanted.column)
    for kind, what, advice in _OWN_LAYOUTS:
        if detail.get(kind):
            names = ", ".join(detail[kind])
            raise NotSupportedError(f"{name} {what} ({names}), which decides where its rows go. Run {advice} instead.")
    statistics = statistics_property(columns, column, dict(detail["properties"]))
    files = wanted.files or files_for(int(detail["sizeInBytes"]))
    statements = [f"INSERT OVERWRITE {name} {clustered_sql(name, column, files)}"]
    if statistics is not None:
        statements.insert(0, f"ALTER TABLE {name} SET TBLPROPERTIES ({statistics})")
    return statements


def check_failure(error: Error) -> None:
    """Say it plainly when a rewrite failed for what the table is. Raises NotSupportedError."""
    if error.error_class == _IDENTITY:
        raise NotSupportedError("The table has a column GENERATED ALWAYS AS IDENTITY: its rows cannot be written anew.") from error


def columns_of(session: Session, name: str, execution: Execution) -> Columns:
    """Return the columns of a relation."""
    rows = session.read(f"DESCRIBE QUERY SELECT * FROM {name}", execution).to_pylist()
    return [(row["col_name"], row["data_type"]) for row in rows]


def _delta_table(table: tuple[str, ...], session: Session) -> str:
    relation, name = session.resolve(table), qualified(table)
    if relation is None:
        raise ProgrammingError(f"There is no table {name}.")
    if relation.kind is not RelationKind.DELTA_TABLE:
        raise NotSupportedError(f"{name} is a {relation.kind.value}; only Delta tables can be clustered.")
    return qualified(relation.name)
