"""The dialect on a real warehouse: definitions, values of every type, reflection, and sketches below SQLAlchemy."""

from __future__ import annotations

import datetime as dt
import threading
import uuid
import warnings
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations
from pyspark.sql import SparkSession
from sqlalchemy.orm import Session, declarative_base
from sqlalchemy.schema import CreateTableAs, CreateView

import imp_driver
from imp_driver.reasons import Decision
from imp_sqlalchemy import MAP, STRUCT, VARIANT, Merge, RollbackIgnored, migrations, views


@pytest.fixture(scope="module")
def database(engine: imp_driver.Connection, warehouse: Path) -> Iterator[sa.Engine]:
    made = sa.create_engine(f"imp:///{warehouse}?sketch=shadow", isolation_level="AUTOCOMMIT")
    yield made
    made.dispose()


@pytest.fixture
def meta(database: sa.Engine) -> Iterator[sa.MetaData]:
    meta = sa.MetaData()
    yield meta
    meta.drop_all(database)


def name() -> str:
    return f"sa_{uuid.uuid4().hex[:12]}"


VALUES: tuple[tuple[Any, list[Any]], ...] = (
    (sa.Integer(), [0, -5, 2**31 - 1]),
    (sa.BigInteger(), [2**63 - 1]),
    (sa.Numeric(12, 3), [Decimal("1.500"), Decimal("-999999999.999")]),
    (sa.Float(), [1.5, -0.0, 1e300]),
    (sa.Boolean(), [True, False]),
    (sa.String(), ["", "it's", "a\\b", "ä\n%?:x", "'"]),
    (sa.Date(), [dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
    (sa.DateTime(), [dt.datetime(2020, 3, 29, 2, 30, 0, 1), dt.datetime(1900, 1, 1)]),
    (sa.DateTime(timezone=True), [dt.datetime(2020, 1, 1, 12, tzinfo=dt.UTC)]),
    (sa.Time(), [dt.time(1, 2, 3, 4), dt.time(0)]),
    (sa.LargeBinary(), [b"", b"\x00\xff"]),
    (sa.Uuid(), [uuid.UUID(int=7)]),
    (sa.Enum("a", "b", name="e"), ["a"]),
    (sa.JSON(), [{"a": [1, None, "x"]}, []]),
    (sa.Interval(), [dt.timedelta(days=3, microseconds=5)]),
    (sa.ARRAY(sa.Integer), [[1, 2], []]),
    (MAP(sa.String, sa.Integer), [{"a": 1}]),
    (STRUCT({"a": sa.Integer(), "b": sa.String()}), [{"a": 1, "b": "it's"}, {"a": None, "b": ""}]),
    (VARIANT(), [{"a": [1, 2.5, None]}, "text", 7]),
)


@pytest.mark.parametrize(("kind", "values"), VALUES, ids=[type(kind).__name__ + str(place) for place, (kind, _) in enumerate(VALUES)])
def test_values_come_back(database: sa.Engine, meta: sa.MetaData, kind: Any, values: list[Any]) -> None:
    table = sa.Table(name(), meta, sa.Column("id", sa.Integer), sa.Column("v", kind))
    rows = [{"id": place, "v": value} for place, value in enumerate([*values, None])]
    with database.connect() as connection:
        table.create(connection)
        for row in rows[:1]:
            connection.execute(table.insert(), row)
        connection.execute(table.insert(), rows[1:])
        found = connection.execute(sa.select(table).order_by(table.c.id)).fetchall()
        assert [row.v for row in found] == [*values, None]
        literals = [sa.literal(value, kind) for value in values]
        if type(kind) not in (sa.ARRAY, MAP, STRUCT, VARIANT, sa.JSON, sa.Interval):
            text = str(sa.select(*literals).compile(database, compile_kwargs={"literal_binds": True}))
            written = connection.exec_driver_sql(text).fetchone()
            inserted = (
                sa.insert(table).values(id=99, v=sa.literal(values[0], kind)).compile(database, compile_kwargs={"literal_binds": True})
            )
            connection.exec_driver_sql(str(inserted))
            assert written is not None
            assert connection.execute(sa.select(table.c.v).where(table.c.id == 99)).scalar_one() == values[0]


def test_a_table_is_reflected_as_it_was_made(database: sa.Engine, meta: sa.MetaData) -> None:
    parent = sa.Table(name(), meta, sa.Column("id", sa.BigInteger, primary_key=True))
    child = sa.Table(
        name(),
        meta,
        sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
        sa.Column("parent_id", sa.BigInteger, sa.ForeignKey(parent.c.id, name="to_parent", ondelete="CASCADE"), nullable=False),
        sa.Column(
            "price", sa.Numeric(9, 2), sa.CheckConstraint("price > 0", name="positive"), server_default=sa.text("1.5"), comment="it's"
        ),
        sa.Column("code", sa.String(5)),
        sa.Column("k", sa.Integer, index=True),
        sa.Column("moment", sa.TIMESTAMP),
        sa.Column("day", sa.Date, sa.Computed("CAST(moment AS DATE)")),
        sa.Column("tags", sa.ARRAY(sa.String(3))),
        sa.UniqueConstraint("code", "k", name="once"),
        comment="a 'table'",
        imp_cluster_by=["k"],
    )
    meta.create_all(database)
    found = sa.Table(child.name, sa.MetaData(), autoload_with=database)
    assert [column.name for column in found.columns] == ["id", "parent_id", "price", "code", "k", "moment", "day", "tags"]
    assert [column.nullable for column in found.columns] == [False, False] + [True] * 6
    assert [column.name for column in found.primary_key] == ["id"]
    assert (found.c.price.comment, found.comment) == ("it's", "a 'table'")
    assert str(found.c.price.type) == "DECIMAL(9, 2)"
    assert found.c.code.type.length == 5  # type: ignore[attr-defined]
    assert found.c.tags.type.item_type.length == 3  # type: ignore[attr-defined]
    assert found.c.id.identity is not None
    assert (found.c.id.identity.always, found.c.id.identity.start, found.c.id.identity.increment) == (False, 1, 1)
    assert found.c.day.computed is not None
    assert str(found.c.day.computed.sqltext) == "CAST(moment AS DATE)"
    assert isinstance(found.c.price.server_default, sa.DefaultClause)
    assert "1.5" in str(found.c.price.server_default.arg)
    [key] = found.foreign_keys
    assert (key.column.table.name, key.constraint.name if key.constraint is not None else None, key.ondelete) == (
        parent.name,
        "to_parent",
        "CASCADE",
    )
    inspector = sa.inspect(database)
    assert [each["name"] for each in inspector.get_unique_constraints(child.name)] == ["once"]
    assert [each["column_names"] for each in inspector.get_indexes(child.name)] == [["k"]]
    assert [each["sqltext"] for each in inspector.get_check_constraints(child.name)] == ["price > 0"]
    assert inspector.get_table_options(child.name) == {"imp_cluster_by": ("k",)}
    with database.connect() as connection, pytest.raises(sa.exc.IntegrityError, match="CHECK constraint positive"):
        connection.execute(child.insert(), {"parent_id": 1, "price": -1})


def test_tables_and_views_are_listed(database: sa.Engine, meta: sa.MetaData) -> None:
    table = sa.Table(name(), meta, sa.Column("id", sa.Integer))
    meta.create_all(database)
    view, copy = name(), name()
    with database.connect() as connection:
        connection.execute(table.insert(), [{"id": 1}, {"id": 2}])
        connection.execute(CreateView(sa.select(table).where(table.c.id > 1), view))
        connection.execute(CreateTableAs(sa.select(table), copy))
        inspector = sa.inspect(connection)
        assert table.name in inspector.get_table_names()
        assert copy in inspector.get_table_names()
        assert view not in inspector.get_table_names()
        assert view in inspector.get_view_names()
        assert inspector.has_table(view)
        assert not inspector.has_table("nowhere")
        assert "WHERE" in inspector.get_view_definition(view)
        assert connection.exec_driver_sql(f"SELECT count(*) FROM {copy}").scalar_one() == 2
        with pytest.raises(sa.exc.NoSuchTableError):
            inspector.get_columns("nowhere")
        connection.exec_driver_sql(f"DROP VIEW {view}")
        connection.exec_driver_sql(f"DROP TABLE {copy}")


@pytest.mark.parametrize("kind", ["incremental", "materialized"])
def test_views_that_are_kept_up_to_date(database: sa.Engine, meta: sa.MetaData, kind: views.Kind) -> None:
    table, view = sa.Table(name(), meta, sa.Column("id", sa.Integer), sa.Column("word", sa.Text)), name()
    meta.create_all(database)
    query = sa.select(table.c.word, sa.func.count().label("n")).where(table.c.word != "b").group_by(table.c.word)
    with database.connect() as connection:
        connection.execute(table.insert(), [{"id": 1, "word": "a"}, {"id": 2, "word": "b"}])
        connection.execute(views.CreateView(view, query, kind=kind, policy="INCREMENTAL"))
        connection.execute(table.insert(), [{"id": 3, "word": "a"}])
        if kind == "materialized":
            connection.execute(views.RefreshView(view))
        assert connection.exec_driver_sql(f"SELECT word, n FROM {view}").all() == [("a", 2)]
        inspector = sa.inspect(connection)
        assert view in (inspector.get_view_names() if kind == "incremental" else inspector.get_table_names())
        assert [column["name"] for column in inspector.get_columns(view)] == ["word", "n"]
        assert migrations.ImpImpl.__dialect__ == "imp"
        op = Operations(MigrationContext.configure(connection))
        op.create_imp_view(view, "SELECT 1 AS one", kind=kind, or_replace=True)  # type: ignore[attr-defined]
        assert connection.exec_driver_sql(f"SELECT * FROM {view}").all() == [(1,)]
        op.drop_imp_view(view, kind=kind)  # type: ignore[attr-defined]
        connection.execute(views.DropView(view, kind=kind, if_exists=True))
        assert not sa.inspect(connection).has_table(view)
        with pytest.raises(sa.exc.ArgumentError, match="no view of kind"):
            views.CreateView(view, query, kind="other")  # type: ignore[arg-type]


def test_a_schema_is_reflected_with_a_statement_for_tables_and_one_for_views(database: sa.Engine, meta: sa.MetaData) -> None:
    schema = name()
    with database.connect() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
        for number in range(5):
            sa.Table(
                f"t{number}", meta, sa.Column("id", sa.Integer, primary_key=True), sa.Column("x", sa.String(number + 1)), schema=schema
            )
        meta.create_all(connection)
        connection.exec_driver_sql(f"CREATE VIEW {schema}.v AS SELECT id + 1 AS next FROM {schema}.t0")
        asked: list[str] = []
        listen = lambda *arguments: asked.append(arguments[2])  # noqa: E731 - the same object is needed to stop listening
        sa.event.listen(connection, "before_cursor_execute", listen)
        found = sa.MetaData()
        found.reflect(connection, schema, views=True)
        sa.event.remove(connection, "before_cursor_execute", listen)
        assert sorted(found.tables) == [f"{schema}.{table}" for table in ("t0", "t1", "t2", "t3", "t4", "v")]
        assert found.tables[f"{schema}.t3"].c.x.type.length == 4  # type: ignore[attr-defined]
        assert [str(column.type) for column in found.tables[f"{schema}.v"].columns] == ["INTEGER"]
        assert len(asked) <= 5, asked
        meta.drop_all(connection)
        connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")


def test_a_temporary_view_is_reflected(database: sa.Engine) -> None:
    with database.connect() as connection:
        view = name()
        connection.exec_driver_sql(f"CREATE TEMPORARY VIEW {view} AS SELECT 1 AS a, 'x' AS b")
        inspector = sa.inspect(connection)
        assert view in inspector.get_temp_view_names()
        assert [(each["name"], str(each["type"])) for each in inspector.get_columns(view)] == [("a", "INTEGER"), ("b", "STRING")]
        connection.exec_driver_sql(f"DROP VIEW {view}")


def test_queries_of_the_expression_language_are_cut(database: sa.Engine, meta: sa.MetaData) -> None:
    table = sa.Table(name(), meta, sa.Column("k", sa.Integer), sa.Column("v", sa.Integer), imp_cluster_by=["k"])
    meta.create_all(database)
    with database.connect() as connection:
        rows = "SELECT CAST(id DIV 8 AS INT), CAST(id AS INT) FROM range(160)"
        connection.exec_driver_sql(
            f"INSERT INTO {table.name} SELECT /*+ REPARTITION_BY_RANGE(10, col1) */ * FROM ({rows}) AS t(col1, col2)"
        )
        decisions = []
        for low in (1200, 1100, 1100):
            query = sa.select(table.c.k, sa.func.sum(table.c.v).label("s")).group_by(table.c.k).having(sa.func.sum(table.c.v) > low)
            result = connection.execute(query.order_by(sa.desc("s")).limit(100))
            report = result.cursor.sketch_report
            assert len(result.fetchall()) > 0
            decisions.append(report.decision)
            connection.execute(table.insert(), {"k": 3, "v": 1})
        assert decisions == [Decision.CAPTURED, Decision.MAINTAINED, Decision.MAINTAINED]
        off = connection.execution_options(imp_sketch="off").execute(query)
        assert off.cursor.sketch_report.reason.name == "SKETCH_OFF"
        off.close()


def test_merge(database: sa.Engine, meta: sa.MetaData) -> None:
    target, source = (sa.Table(name(), meta, sa.Column("id", sa.Integer), sa.Column("v", sa.String)) for _ in range(2))
    meta.create_all(database)
    with database.connect() as connection:
        connection.execute(target.insert(), [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}])
        connection.execute(source.insert(), [{"id": 2, "v": "B"}, {"id": 3, "v": "C"}])
        merge = Merge(target, source, target.c.id == source.c.id).when_matched_update({"v": source.c.v + "!"})
        result = connection.execute(merge.when_not_matched_insert({"id": source.c.id, "v": "new"}))
        assert result.rowcount == 2
        assert connection.execute(sa.select(target).order_by(target.c.id)).fetchall() == [(1, "a"), (2, "B!"), (3, "new")]


def test_rows_of_the_orm(database: sa.Engine, meta: sa.MetaData) -> None:
    base: Any = declarative_base(metadata=meta)

    class Item(base):  # type: ignore[misc]
        __tablename__ = name()
        id = sa.Column(sa.Uuid, primary_key=True, default=uuid.uuid4)
        label = sa.Column(sa.String)

    meta.create_all(database)
    with Session(database) as session:
        items = [Item(label=f"item {number}") for number in range(5)]
        session.add_all(items)
        session.flush()
        first = items[0].id
        session.commit()
        items[0].label = "other"  # type: ignore[assignment]
        session.delete(items[1])
        session.commit()
    with Session(database) as session:
        assert sorted(session.scalars(sa.select(Item.label))) == ["item 2", "item 3", "item 4", "other"]
        assert session.get(Item, first) is not None


def test_a_rollback_says_that_it_changes_nothing(warehouse: Path, database: sa.Engine, meta: sa.MetaData) -> None:
    table = sa.Table(name(), meta, sa.Column("id", sa.Integer))
    meta.create_all(database)
    engine = sa.create_engine(f"imp:///{warehouse}?sketch=off")
    with engine.connect() as connection:
        connection.execute(table.insert(), {"id": 1})
        with pytest.warns(RollbackIgnored, match="committed every statement"):
            connection.rollback()
        with warnings.catch_warnings(action="error"):
            connection.execute(sa.select(table)).fetchall()
            connection.rollback()
            connection.execute(table.insert(), {"id": 2})
            connection.commit()
    with pytest.raises(sa.exc.ArgumentError, match="AUTOCOMMIT"):
        engine.execution_options(isolation_level="SERIALIZABLE").connect()
    engine.dispose()


def test_errors_have_the_classes_of_pep_249(database: sa.Engine) -> None:
    with database.connect() as connection:
        with pytest.raises(sa.exc.ProgrammingError, match="TABLE_OR_VIEW_NOT_FOUND"):
            connection.execute(sa.text("SELECT * FROM nowhere"))
        with pytest.raises(sa.exc.DataError):
            connection.execute(sa.text("SELECT CAST('x' AS INT)")).fetchall()
        assert connection.execute(sa.text("SELECT :x + 1"), {"x": 1}).scalar_one() == 2
        assert not connection.invalidated


def test_a_table_that_vanished_after_its_reflection(database: sa.Engine, meta: sa.MetaData) -> None:
    made = sa.Table(name(), meta, sa.Column("id", sa.Integer))
    meta.create_all(database)
    found = sa.Table(made.name, sa.MetaData(), autoload_with=database)
    meta.drop_all(database)
    with database.connect() as connection, pytest.raises(sa.exc.ProgrammingError, match="TABLE_OR_VIEW_NOT_FOUND"):
        connection.execute(sa.select(found))


def test_a_value_that_spark_has_no_type_for(database: sa.Engine) -> None:
    with database.connect() as connection:
        for value in (object(), 3 + 4j, {1, 2}):
            with pytest.raises((sa.exc.NotSupportedError, sa.exc.ProgrammingError, sa.exc.DataError), match=type(value).__name__):
                connection.exec_driver_sql("SELECT ?", (value,))


def test_a_connection_opens_while_a_query_has_all_cores(warehouse: Path, database: sa.Engine, spark: SparkSession) -> None:
    with database.connect() as busy:
        endless: Any = busy.connection.cursor()
        query = threading.Thread(target=_run_endless, args=(endless,))
        query.start()
        while not spark.sparkContext.statusTracker().getActiveStageIds():
            query.join(0.1)
        opened = threading.Thread(target=_open_another, args=(warehouse,))
        opened.start()
        opened.join(60)
        is_open = not opened.is_alive()
        endless.cancel()
        query.join()
        opened.join()
        assert is_open


def _run_endless(cursor: Any) -> None:
    with pytest.raises(imp_driver.OperationalError, match="cancel"):
        cursor.execute("SELECT count(*) FROM range(10000000000000)")


def _open_another(warehouse: Path) -> None:
    engine = sa.create_engine(f"imp:///{warehouse}?sketch=off", isolation_level="AUTOCOMMIT", pool_pre_ping=True)
    with engine.connect():
        pass
    with engine.connect():
        pass
    engine.dispose()
