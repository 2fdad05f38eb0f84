"""Who may not read a table gets no answer, and nothing is told of its sketches: the whole driver over an engine that refuses."""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest

from imp_driver.errors import ProgrammingError
from imp_driver.maintain.relations import Relations
from imp_driver.maintain.sketches import Sketches
from imp_driver.maintain.workload import Record
from imp_driver.middleware import Middleware
from imp_driver.ports import Relation, RelationKind, ResultStream, View, ViewColumn
from imp_driver.reasons import Decision
from imp_driver.spark.locations import is_open_folder
from imp_driver.values.execution import Execution
from imp_driver.values.options import Options
from tests.soundness.engine import DuckSession, Warehouse

QUERY = "SELECT g, sum(a) AS f FROM r WHERE g >= {} GROUP BY g HAVING sum(a) > 40"
OF_VIEW = "SELECT g, sum(a) AS f FROM v GROUP BY g HAVING sum(a) > 40"


def _view(column: str) -> View:
    columns = (ViewColumn("g", "g", "integer"), ViewColumn(column, column, "integer"))
    return View(f"SELECT g, {column} FROM r", ("spark_catalog", "default"), columns, True)


VIEWS = {("v",): _view("a"), ("w",): _view("x")}


@dataclass
class Guarded(DuckSession):
    """Refuses every statement with a name that is hidden, as an engine with permissions does: an error that quotes the statement."""

    hidden: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    def execute(self, execution: Execution) -> ResultStream:
        self._check(execution.text)
        text = execution.text.replace("FROM v ", "FROM (SELECT g, a FROM r) v ").replace("FROM w ", "FROM (SELECT g, x FROM r) w ")
        return super().execute(execution.with_text(text))

    def read(self, text: str, execution: Execution, most_bytes: int | None = None) -> pa.Table:
        self._check(text)
        if text.startswith("DESCRIBE DETAIL"):
            return pa.table({"partitionColumns": pa.array([[]], pa.list_(pa.string()))})
        return super().read(text, execution)

    def _check(self, text: str) -> None:
        self.asked.append(text)
        for name in self.hidden:
            if f" {name} " in f" {text.replace('`', '')} ":
                raise ProgrammingError(f"Permission denied on {name} in: {text}", error_class="INSUFFICIENT_PERMISSIONS")

    def may_read(self, name: tuple[str, ...]) -> bool:
        return name[-1] not in self.hidden

    def resolve(self, name: tuple[str, ...]) -> Relation | None:
        return Relation(RelationKind.VIEW, name, None, VIEWS[name]) if name in VIEWS else super().resolve(name)


@dataclass(slots=True)
class Users:
    """Two connections to one warehouse and its sketches; ``guest`` may be kept from reading."""

    warehouse: Warehouse
    sketches: Sketches
    owner: Middleware
    guest: Middleware
    session: Guarded

    def run(self, text: str) -> list[dict[str, object]]:
        stream = self.guest.run(Execution(text, tag="guest")).stream
        rows: list[dict[str, object]] = []
        while stream is not None and (batch := stream.next_batch()) is not None:
            rows += batch.to_pylist()
        return rows


@pytest.fixture
def users() -> Users:
    chance = random.Random(3)
    warehouse = Warehouse(clustering=1)
    for table in ("r", "s"):
        warehouse.commit(table, [(number, number // 8, chance.randint(0, 4), chance.randint(0, 9)) for number in range(160)])
    sketches, session = Sketches(Relations(warehouse, 1 << 20)), Guarded(warehouse)
    owner, guest = (Middleware(each, warehouse, sketches, Options(answers=False)) for each in (DuckSession(warehouse), session))
    for low in (0, 1, 2):
        assert owner.run(Execution(QUERY.format(low), tag="owner")).report.decision is not Decision.NOT_USED
    return Users(warehouse, sketches, owner, guest, session)


def test_who_may_read_profits_from_the_sketches_of_others(users: Users) -> None:
    assert users.guest.run(Execution(QUERY.format(2), tag="guest")).report.decision is Decision.FRESH
    assert len(users.run("SHOW SKETCHES")) > 0


def test_a_query_is_refused_although_a_sketch_is_there(users: Users) -> None:
    users.session.hidden.add("r")
    for text in (QUERY.format(2), QUERY.format(3)):
        with pytest.raises(ProgrammingError, match="Permission denied on r") as caught:
            users.guest.run(Execution(text, tag="guest"))
        # The engine was asked last for the caller's own text, and of the rewritten one nothing is left, not even in the chain of errors.
        assert users.session.asked[-1] == text
        assert any("VERSION AS OF" in each for each in users.session.asked)
        told = "".join(traceback.format_exception(caught.value))
        assert "VERSION AS OF" not in told
        assert "g` >=" not in told


def test_a_query_is_refused_after_a_change_too(users: Users) -> None:
    users.session.hidden.add("r")
    users.warehouse.commit("r", [*users.warehouse.rows("r"), (999, 3, 3, 30)])
    with pytest.raises(ProgrammingError, match="Permission denied on r"):
        users.guest.run(Execution(QUERY.format(2), tag="guest"))


@pytest.mark.parametrize("statement", ["SHOW SKETCHES", "ADVISE SKETCHES", f"EXPLAIN SKETCH {QUERY.format(2)}"])
def test_what_is_hidden_is_not_told(users: Users, statement: str) -> None:
    users.sketches.workload.add(Record("t1", "text of r", "r", "r", ("g",), 9, reason="NOT_CLUSTERED", last_bytes=5, table_bytes=5))
    before = users.run(statement)
    assert "'r'" in repr(before) or " r " in repr(before)
    users.session.hidden.add("r")
    after = repr(users.run(statement))
    assert "SELECT" not in after
    assert "'r'" not in after
    assert "version" not in after


def test_explain_says_that_it_is_not_permitted(users: Users) -> None:
    users.session.hidden.add("r")
    lines = [str(row["plan"]) for row in users.run(f"EXPLAIN SKETCH {QUERY.format(2)}")]
    assert lines[0] == "No sketch: the query runs unchanged."
    assert lines[1].startswith("  reason: NOT_PERMITTED")
    assert lines[2:] == ["  detail: r"]


def test_a_sketch_over_several_tables_is_hidden_with_one_of_them(users: Users) -> None:
    text = "SELECT r.g, sum(r.a) AS f FROM r JOIN s ON r.g = s.k GROUP BY r.g HAVING sum(r.a) > 300"
    assert users.owner.run(Execution(text, tag="owner")).report.decision is Decision.CAPTURED
    both = len(users.run("SHOW SKETCHES"))
    users.session.hidden.add("s")
    assert len(users.run("SHOW SKETCHES")) == both - 1
    users.session.hidden.add("r")
    assert users.run("SHOW SKETCHES") == []


def test_a_sketch_of_a_former_process_is_shown_where_all_that_is_known_of_it_may_be_read(users: Users) -> None:
    join = "SELECT r.g, sum(r.a) AS f FROM r JOIN s ON r.g = s.k GROUP BY r.g HAVING sum(r.a) > 300"
    for text in (join, OF_VIEW.replace("a)", "x)").replace("FROM v", "FROM w")):
        users.guest.run(Execution(text, tag="guest"))
    every = users.sketches.relations.registry.relations()
    for entry in every:
        entry._block = None
    with_view = [entry for entry in every if "(g AS g integer" in entry.identity.template_text]
    assert with_view
    shown = {row["sketch_id"] for row in users.run("SHOW SKETCHES")}
    assert shown == {entry.identifier for entry in every if entry not in with_view}
    users.session.hidden.add("/s")
    of_join = {entry.identifier for entry in every if "/s" in entry.vector}
    assert of_join
    assert {row["sketch_id"] for row in users.run("SHOW SKETCHES")} == shown - of_join


def test_a_hidden_sketch_is_not_there_to_be_dropped(users: Users) -> None:
    [entry, *_] = users.sketches.relations.registry.relations()
    users.session.hidden.add("r")
    with pytest.raises(ProgrammingError, match="There is no sketch"):
        users.guest.run(Execution(f"DROP SKETCH {entry.identifier}", tag="guest"))
    assert users.guest.run(Execution("DROP SKETCH ALL", tag="guest")).rowcount == 0
    assert entry in users.sketches.relations.registry.relations()
    users.session.hidden.clear()
    assert users.guest.run(Execution(f"DROP SKETCH {entry.identifier}", tag="guest")).rowcount == 1


@pytest.mark.parametrize("text", ["DROP SKETCH", "EXPLAIN SKETCH", "ADVISE", "SHOW STATE", "SHOW STATES LIKE 'x'", "CLUSTER SKETCH"])
def test_what_only_begins_like_a_command_gets_the_list_of_all(users: Users, text: str) -> None:
    with pytest.raises(ProgrammingError, match="is no statement of the driver"):
        users.guest.run(Execution(text, tag="guest"))


def test_a_view_that_may_not_be_read_is_not_unfolded(users: Users) -> None:
    assert users.guest.run(Execution(OF_VIEW, tag="guest")).report.decision is not Decision.NOT_USED
    users.session.hidden.add("v")
    with pytest.raises(ProgrammingError, match="Permission denied on v"):
        users.guest.run(Execution(OF_VIEW, tag="guest"))
    assert users.session.asked[-1] == OF_VIEW


def test_the_system_is_asked_for_the_folder_and_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: set[Path] = set()

    def access(path: Path, mode: int) -> bool:
        return path.exists() and path not in closed

    answers: Callable[..., bool] = access
    monkeypatch.setattr("imp_driver.spark.locations.os.access", answers)
    (tmp_path / "_delta_log").mkdir()
    assert is_open_folder(str(tmp_path))
    assert is_open_folder("s3a://bucket/t")
    assert is_open_folder(None)
    assert not is_open_folder(str(tmp_path / "gone"))
    for folder in (tmp_path, tmp_path / "_delta_log"):
        closed = {folder}
        assert not is_open_folder(str(tmp_path))
