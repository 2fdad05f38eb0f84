"""Alembic migrations of a Delta table, up and down, without files: the operations are those of migration scripts."""

from __future__ import annotations

import sys

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations

import imp_sqlalchemy.migrations  # noqa: F401 - tells Alembic about the dialect

TABLE = "example_orders"


def upgrade(op: Operations) -> None:
    """Make a table, then change it as later versions of an application do."""
    op.create_table(
        TABLE,
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("buyer", sa.String(20)),
    )
    op.add_column(TABLE, sa.Column("price", sa.Numeric(10, 2), server_default="1.5"))
    op.alter_column(TABLE, "buyer", new_column_name="customer", existing_type=sa.String(20))
    op.alter_column(TABLE, "customer", comment="who pays", existing_type=sa.String(20))
    op.create_check_constraint("cheap", TABLE, "price < 1000")
    op.create_index("by_customer", TABLE, ["customer"])


def downgrade(op: Operations) -> None:
    """Take the newest changes back."""
    op.drop_index("by_customer", TABLE)
    op.drop_constraint("cheap", TABLE, type_="check")
    op.drop_column(TABLE, "price")


def main(warehouse: str) -> list[list[str]]:
    """Run both; return the names of the columns after each."""
    engine = sa.create_engine(f"imp:///{warehouse}?sketch=off", isolation_level="AUTOCOMMIT")
    seen = []
    with engine.connect() as connection:
        connection.execute(sa.text(f"DROP TABLE IF EXISTS {TABLE}"))
        op = Operations(MigrationContext.configure(connection))
        for migrate in (upgrade, downgrade):
            migrate(op)
            inspector = sa.inspect(connection)
            seen.append([column["name"] for column in inspector.get_columns(TABLE)])
            print(migrate.__name__, seen[-1], inspector.get_check_constraints(TABLE), inspector.get_indexes(TABLE))
    engine.dispose()
    return seen


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "quickstart-warehouse")
