"""A statement is read against the tables as they are, and what was worked out before is used only while they are the same."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from imp_driver.errors import OperationalError
from imp_driver.parse.statement import parse
from imp_driver.ports import Relation, RelationKind, View, ViewColumn
from imp_driver.reasons import Reason
from imp_driver.snapshot.reading import Reading, read
from imp_driver.snapshot.versions import Newest
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import SchemaColumn, TableSnapshot
from tests.unit.maintain.test_lazy import NoFiles

INTEGERS = (SchemaColumn("g", "integer", True), SchemaColumn("x", "long", True))


@dataclass(slots=True)
class FakeSession:
    """Knows relations by name and counts how often it is asked."""

    relations: dict[str, Relation]
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def resolve(self, name: tuple[str, ...]) -> Relation | None:
        self.asked.append(name)
        return self.relations.get(name[-1])

    def may_read(self, name: tuple[str, ...]) -> bool:
        return True

    def settings(self) -> tuple[tuple[str, str], ...]:
        return ()


@dataclass(slots=True)
class Snapshots:
    """Tables by location; a missing one cannot be read."""

    tables: dict[str, TableSnapshot]

    def snapshot(self, location: str) -> TableSnapshot:
        if location not in self.tables:
            raise OperationalError(f"{location} cannot be read")
        return self.tables[location]


def _table(name: str, kind: RelationKind = RelationKind.DELTA_TABLE) -> Relation:
    return Relation(kind, ("spark_catalog", "default", name), f"/{name}")


def _view(name: str, text: str, columns: tuple[str, str] = ("g", "x")) -> Relation:
    named = tuple(
        ViewColumn(source, column, type_name) for source, column, type_name in zip(("g", "x"), columns, ("integer", "long"), strict=True)
    )
    view = View(text, ("spark_catalog", "default"), named, is_ansi=True)
    return Relation(RelationKind.VIEW, ("spark_catalog", "default", name), None, view)


def _snapshot(name: str, schema: tuple[SchemaColumn, ...] = INTEGERS, version: int = 1) -> TableSnapshot:
    return TableSnapshot(f"/{name}", name, version, schema, 10, NoFiles())


def _read(text: str, session: FakeSession, source: Snapshots) -> Reading:
    found = read(parse(text), session, source, Newest())  # type: ignore[arg-type]
    found.text.cut()
    return found


def _refusal(text: str, relations: dict[str, Relation], tables: dict[str, TableSnapshot]) -> Reason:
    with pytest.raises(Refused) as caught:
        _read(text, FakeSession(relations), Snapshots(tables))
    return caught.value.reason


QUERY = "SELECT g FROM t GROUP BY g HAVING avg(x) > 1"


def test_every_table_is_read_at_one_version_and_every_place_is_known() -> None:
    text = "SELECT t.g FROM t JOIN s ON s.g = t.g WHERE t.g IN (SELECT g FROM t GROUP BY g HAVING sum(x) > 1)"
    reading = _read(text, FakeSession({"t": _table("t"), "s": _table("s")}), Snapshots({"/t": _snapshot("t"), "/s": _snapshot("s")}))
    assert [scan.table[-1] for scan in reading.text.scans] == ["t", "s", "t"]
    assert {name[-1]: table.snapshot.version for name, table in reading.tables.items()} == {"t": 1, "s": 1}
    assert [scan.occurrence for analysis in reading.text.cut().analyses for scan in analysis.scans] == [2]


def test_analysis_is_kept_for_new_versions_and_renewed_for_new_columns() -> None:
    session, source = FakeSession({"t": _table("t")}), Snapshots({"/t": _snapshot("t")})
    first = _read(QUERY, session, source)
    source.tables["/t"] = _snapshot("t", version=2)
    second = _read(QUERY, session, source)
    assert second.text.cut().analyses is first.text.cut().analyses
    assert second.tables[("spark_catalog", "default", "t")].snapshot.version == 2
    source.tables["/t"] = _snapshot("t", (SchemaColumn("g", "boolean", True), SchemaColumn("x", "long", True)))
    with pytest.raises(Refused) as caught:
        _read(QUERY, session, source)
    assert caught.value.reason is Reason.NO_PLAIN_GROUP_KEY
    source.tables["/t"] = _snapshot("t")
    assert _read(QUERY, session, source).text.cut().analyses[0].safe == (0,)


@pytest.mark.parametrize(
    ("relations", "tables", "reason"),
    [
        ({}, {}, Reason.NOT_A_DELTA_TABLE),
        ({"t": _table("t", RelationKind.VIEW)}, {}, Reason.VIEW),
        ({"t": _view("t", "SELECT g, x FROM s")}, {}, Reason.NOT_A_DELTA_TABLE),
        ({"t": _view("t", "SELECT g, x FROM s"), "s": _table("s", RelationKind.TEMPORARY_VIEW)}, {}, Reason.TEMPORARY_VIEW),
        ({"t": _table("t", RelationKind.TEMPORARY_VIEW)}, {}, Reason.TEMPORARY_VIEW),
        ({"t": _table("t", RelationKind.OTHER_TABLE)}, {}, Reason.NOT_A_DELTA_TABLE),
        ({"t": _table("t")}, {}, Reason.STORE_NOT_READABLE),
    ],
)
def test_what_is_no_readable_delta_table(relations: dict[str, Relation], tables: dict[str, TableSnapshot], reason: Reason) -> None:
    assert _refusal(QUERY, relations, tables) is reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT g FROM t WHERE 'x\\ny' = 'x' GROUP BY g HAVING sum(x) > 1", Reason.UNSUPPORTED_EXPRESSION),
        ("WITH q AS (SELECT * FROM t) SELECT g FROM q WHERE x IN (SELECT x FROM q) GROUP BY g HAVING sum(x) > 1", Reason.READ_TWICE),
        ("SELECT g FROM t GROUP BY g HAVING", Reason.NOT_PARSED),
    ],
)
def test_refusals(text: str, reason: Reason) -> None:
    assert _refusal(text, {"t": _table("t")}, {"/t": _snapshot("t")}) is reason


def test_another_table_in_the_folder_of_this_machine_is_not_taken_for_the_servers() -> None:
    tables = {"/t": _snapshot("t")}
    text = "SELECT g, sum(x) FROM t GROUP BY g HAVING sum(x) > 1"
    assert _read(text, FakeSession({"t": replace(_table("t"), table_id="t")}), Snapshots(tables)).text.scans
    assert _refusal(text, {"t": replace(_table("t"), table_id="other")}, tables) is Reason.STORE_NOT_READABLE


def test_a_refusal_is_renewed_when_the_table_changes() -> None:
    session, source = FakeSession({"t": _table("t", RelationKind.VIEW)}), Snapshots({"/t": _snapshot("t")})
    with pytest.raises(Refused):
        _read("SELECT g FROM t GROUP BY g HAVING sum(x) > 2", session, source)
    session.relations["t"] = _table("t")
    assert _read("SELECT g FROM t GROUP BY g HAVING sum(x) > 2", session, source).text.cut().analyses[0].safe == (0,)


VIEW_QUERY = "SELECT g FROM v GROUP BY g HAVING sum(x) > 1"


def test_redefined_view_is_another_template() -> None:
    session = FakeSession({"t": _table("t"), "s": _table("s"), "v": _view("v", "SELECT g, x FROM t")})
    source = Snapshots({"/t": _snapshot("t"), "/s": _snapshot("s")})
    first = _read(VIEW_QUERY, session, source)
    assert _read(VIEW_QUERY, session, source).text.cut().analyses is first.text.cut().analyses
    assert list(first.tables) == [("spark_catalog", "default", "t")]
    texts = {first.text.template_text}
    redefined = (("SELECT g, x FROM s", ("g", "x")), ("SELECT g, x FROM t WHERE x > 3", ("g", "x")), ("SELECT g, x FROM t", ("x", "g")))
    for count, definition in enumerate(redefined, start=2):
        session.relations["v"] = _view("v", *definition)
        texts.add(_read(VIEW_QUERY, session, source).text.template_text)
        assert len(texts) == count
    session.relations["v"] = _table("t")
    assert _read(VIEW_QUERY, session, source).text.template_text not in texts
    session.relations["v"] = _view("v", "SELECT g, x FROM t")
    assert _read(VIEW_QUERY, session, source).text.template_text == first.text.template_text


def test_view_below_a_view_is_looked_up_each_time() -> None:
    session = FakeSession({"t": _table("t"), "w": _view("w", "SELECT g, x FROM t"), "v": _view("v", "SELECT g, x FROM w")})
    source = Snapshots({"/t": _snapshot("t")})
    first = _read(VIEW_QUERY, session, source)
    assert [reference.name[-1] for reference in first.text.scans[0].views] == ["v", "w"]
    session.relations["w"] = _view("w", "SELECT g, x FROM t WHERE g > 3")
    second = _read(VIEW_QUERY, session, source)
    assert second.text.template_text != first.text.template_text
    assert len(second.text.cut().analyses[0].block.where) == 1
    del session.relations["w"]
    with pytest.raises(Refused) as caught:
        _read(VIEW_QUERY, session, source)
    assert caught.value.reason is Reason.NOT_A_DELTA_TABLE


def test_view_read_twice_has_two_places_and_one_in_a_common_table() -> None:
    view = _view("v", "SELECT g, x FROM t")
    blocks = "(SELECT g FROM v GROUP BY g HAVING sum(x) > 1) a JOIN (SELECT g FROM v GROUP BY g HAVING sum(x) > 1) b"
    reading = _read(f"SELECT a.g FROM {blocks} ON a.g = b.g", FakeSession({"t": _table("t"), "v": view}), Snapshots({"/t": _snapshot("t")}))
    assert (len(reading.text.cut().analyses), len(reading.text.scans)) == (2, 2)
    assert len({id(scan.place) for scan in reading.text.scans}) == 2
    twice = "WITH q AS (SELECT g FROM v GROUP BY g HAVING sum(x) > 1) SELECT a.g FROM q a JOIN q b ON a.g = b.g"
    reading = _read(twice, FakeSession({"t": _table("t"), "v": view}), Snapshots({"/t": _snapshot("t")}))
    assert (len(reading.text.cut().analyses), len(reading.text.scans), reading.text.cut().numbers) == (2, 1, (0, 0))
    assert list(reading.text.times_read.values()) == [2]
    inside = _view("v", "WITH q AS (SELECT g, x FROM t) SELECT a.g, b.x FROM q a JOIN q b ON a.g = b.g")
    query = "SELECT g FROM v WHERE g IN (SELECT g FROM t GROUP BY g HAVING sum(x) > 1)"
    reading = _read(query, FakeSession({"t": _table("t"), "v": inside}), Snapshots({"/t": _snapshot("t")}))
    assert len(reading.text.scans) == 2
