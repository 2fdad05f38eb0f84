"""SQLAlchemy and Alembic on a real warehouse: keys that Delta makes, migrations that autogenerate writes, graphs."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata, produce_migrations
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy.orm import Session, declarative_base

import imp_driver
from imp_driver.sparql import Iri
from imp_sqlalchemy import last_report, migrations


@pytest.fixture(scope="module")
def database(engine: imp_driver.Connection, warehouse: Path) -> Iterator[sa.Engine]:
    made = sa.create_engine(f"imp:///{warehouse}?sketch=off", isolation_level="AUTOCOMMIT")
    yield made
    made.dispose()


def name() -> str:
    return f"sa_{uuid.uuid4().hex[:12]}"


def test_objects_learn_the_keys_that_delta_makes(database: sa.Engine) -> None:
    base: Any = declarative_base()

    class Item(base):  # type: ignore[misc]
        __tablename__ = name()
        id = sa.Column(sa.Integer, sa.Identity(start=10), primary_key=True)
        label = sa.Column(sa.String)

    base.metadata.create_all(database)
    with Session(database, expire_on_commit=False) as session:
        first, last = Item(label="a"), Item(label="c")
        session.add(first)
        session.commit()
        # One that the application chose, above those that Delta will make.
        session.execute(sa.insert(Item).values(id=1000, label="b"))
        session.add(last)
        session.commit()
        assert last_report(session) is not None
        found: dict[Any, Any] = dict(session.execute(sa.select(Item.label, Item.id)).all())
        assert found == {"a": first.id, "b": 1000, "c": last.id}
        assert 10 <= first.id < last.id < 1000
    base.metadata.drop_all(database)


def test_a_migration_that_autogenerate_writes(database: sa.Engine) -> None:
    assert migrations.ImpImpl.__dialect__ == "imp"
    table = name()
    before, after = sa.MetaData(), sa.MetaData()
    sa.Table(
        table,
        before,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("count", sa.Integer),
        sa.Column("gone", sa.String),
        sa.Column("note", sa.String(5), nullable=False),
    )
    sa.Table(
        table,
        after,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("count", sa.BigInteger),
        sa.Column("note", sa.String(9)),
        sa.Column("state", sa.String, nullable=False, server_default="new"),
        sa.Column("price", sa.Numeric(9, 2), server_default="1.5"),
    )
    before.create_all(database)
    with database.connect() as connection:
        connection.execute(before.tables[table].insert(), [{"id": 1, "count": 2, "gone": "x", "note": "abc"}])
        options: dict[str, Any] = {"compare_server_default": True, "include_name": lambda found, kind, _: kind != "table" or found == table}
        context = MigrationContext.configure(connection, opts=options)
        migrate(Operations(context), produce_migrations(context, after).upgrade_ops)
        assert compare_metadata(context, after) == []
        connection.execute(after.tables[table].insert(), [{"id": 2, "note": "abcdefghi"}])
        rows = connection.execute(sa.select(after.tables[table]).order_by("id")).all()
        assert [tuple(map(str, row)) for row in rows] == [("1", "2", "abc", "new", "None"), ("2", "None", "abcdefghi", "new", "1.50")]
        with pytest.raises(sa.exc.IntegrityError):
            connection.execute(after.tables[table].insert(), {"id": 3, "state": None})
    after.drop_all(database)


def migrate(op: Operations, steps: Any) -> None:
    for step in steps.ops:
        if hasattr(step, "ops"):
            migrate(op, step)
        else:
            op.invoke(step)


def test_a_graph_is_a_table_and_parameters_are_variables(database: sa.Engine) -> None:
    graph, mapped = name(), name()
    mapping = (
        "@prefix rr: <http://www.w3.org/ns/r2rml#> . <#m> rr:logicalTable [ rr:sqlQuery \"SELECT 1 AS id, ''x'' AS label\" ] ; "
        'rr:subjectMap [ rr:template "a:{id}" ] ; rr:predicateObjectMap [ rr:predicate <a:label> ; rr:objectMap [ rr:column "label" ] ] .'
    )
    with database.connect() as connection:
        connection.exec_driver_sql(f"CREATE GRAPH {graph}")
        connection.exec_driver_sql(f"CREATE GRAPH {mapped} FROM MAPPING '{mapping}'")
        inserted = connection.execute(
            sa.text(f"SPARQL INSERT DATA {{ GRAPH <{graph}> {{ ?s <a:p> ?v }} }}"), [{"s": Iri("a:1"), "v": 1}, {"s": Iri("a:2"), "v": 2}]
        )
        assert inserted.rowcount == 2
        query = sa.text(f"SPARQL PREFIX : <a:> SELECT ?s ?v FROM <{graph}> WHERE {{ ?s :p ?v }}")
        assert connection.execute(query, {"v": 2}).all() == [("a:2", "2")]
        assert len(connection.execute(query).all()) == 2
        with pytest.raises(sa.exc.ProgrammingError, match="'w' is the name of no variable"):
            connection.execute(query, {"w": 2})
        with pytest.raises(sa.exc.ProgrammingError, match="rows of a query would be lost"):
            connection.execute(query, [{"v": 1}, {"v": 2}])
        inspector = sa.inspect(connection)
        columns = {each["name"]: (str(each["type"]), each["nullable"]) for each in inspector.get_columns(graph)}
        assert [*columns][:4] == ["s", "p", "o", "g"]
        assert (columns["s"], columns["g"], columns["number"]) == (("STRING", False), ("STRING", True), ("DOUBLE", True))
        assert graph in inspector.get_table_names()
        assert [each["name"] for each in inspector.get_columns(mapped)] == ["s", "p", "o", "g"]
        assert mapped in inspector.get_view_names()
        triples = sa.Table(graph, sa.MetaData(), autoload_with=connection)
        assert connection.scalar(sa.select(sa.func.sum(triples.c.number))) == 3
        for each in (mapped, graph):
            connection.exec_driver_sql(f"DROP GRAPH {each}")
