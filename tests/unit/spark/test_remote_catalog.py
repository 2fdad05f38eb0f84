"""What a Spark Connect server answers about a name -> what the name stands for; nothing is guessed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from imp_driver.errors import CONNECTION_LOST, OperationalError, ProgrammingError
from imp_driver.ports import Relation, RelationKind
from imp_driver.spark.remote_catalog import Row, find_relation, read_definition

_TABLE = {"format": "delta", "id": "i", "name": "spark_catalog.s.t", "location": "file:/w/a%20b", "description": "few"}
_IS_A_VIEW = ProgrammingError("a view", error_class="EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE")
_VIEW = {"catalog_name": "spark_catalog", "namespace": ["s"], "table_name": "v", "view_text": "SELECT 1 AS x", "columns": [{"name": "x"}]}


@dataclass(slots=True)
class FakeServer:
    """Answers statements by their first word but one; an answer that is an error is raised."""

    answers: Mapping[str, Any]
    asked: list[str] = field(default_factory=list)

    def __call__(self, text: str) -> list[Row]:
        self.asked.append(text)
        answer = self.answers[text.split()[1]]
        if isinstance(answer, Exception):
            raise answer
        return [answer] if isinstance(answer, dict) else answer


def _find(name: tuple[str, ...], **answers: Any) -> Relation | None:
    return find_relation(name, FakeServer(answers), lambda location: location)


def test_a_delta_table_has_its_place_and_the_identifier_of_its_log() -> None:
    server = FakeServer({"DETAIL": _TABLE})
    found = find_relation(("S", "t`"), server, lambda location: "elsewhere:" + location)
    assert found == Relation(RelationKind.DELTA_TABLE, ("spark_catalog", "s", "t"), "elsewhere:/w/a b", table_id="i")
    assert server.asked == ["DESCRIBE DETAIL `S`.`t```"]


def test_a_table_named_by_its_path_lies_where_the_server_says() -> None:
    found = _find(("delta", "/p"), DETAIL=_TABLE | {"name": None, "location": "hdfs://h/p"})
    assert found == Relation(RelationKind.DELTA_TABLE, ("delta", "/p"), "hdfs://h/p", table_id="i")


@pytest.mark.parametrize(
    ("detail", "expected"),
    [
        (_TABLE | {"format": "parquet", "id": None}, RelationKind.OTHER_TABLE),
        (_TABLE | {"name": "other.s.t"}, None),
        (_TABLE | {"name": "spark_catalog.s.t.u"}, None),
        (_TABLE | {"name": None}, None),
        (ProgrammingError("none", error_class="TABLE_OR_VIEW_NOT_FOUND"), None),
    ],
)
def test_other_names(detail: Any, expected: RelationKind | None) -> None:
    found = _find(("t",), DETAIL=detail)
    assert (None if found is None else found.kind) == expected


def test_a_lost_connection_is_no_missing_table() -> None:
    lost = OperationalError("gone", error_class=CONNECTION_LOST)
    for answers in ({"DETAIL": lost}, {"DETAIL": _IS_A_VIEW, "TABLE": lost}):
        with pytest.raises(OperationalError):
            _find(("t",), **answers)


@pytest.mark.parametrize(
    ("described", "kind"),
    [
        (_VIEW, RelationKind.VIEW),
        (_VIEW | {"catalog_name": "system", "namespace": ["session"]}, RelationKind.TEMPORARY_VIEW),
        ({"catalog_name": "spark_catalog"}, RelationKind.TEMPORARY_VIEW),
    ],
)
def test_a_view_is_never_looked_through(described: dict[str, Any], kind: RelationKind) -> None:
    found = _find(("v",), DETAIL=_IS_A_VIEW, TABLE={"json_metadata": json.dumps(described)})
    assert found is not None
    assert found.kind is kind
    assert found.view is None or "Spark Connect" in found.view.problem


def test_a_definition_has_what_the_statements_tell() -> None:
    answers: dict[str, Any] = {
        "DETAIL": _TABLE | {"partitionColumns": ["p"], "clusteringColumns": ["c"]},
        "TBLPROPERTIES": [{"key": "k", "value": "v"}],
    }
    found = read_definition(("t",), FakeServer(answers), lambda name: f"schema of {name}")
    assert found is not None
    assert (found.schema, found.partition_columns, found.comment, found.view_text) == ("schema of `t`", ("p",), "few", None)
    assert found.properties == {"k": "v", "clusteringColumns": '[["c"]]'}
    answers = {"DETAIL": _IS_A_VIEW, "TABLE": {"json_metadata": json.dumps(_VIEW)}, "TBLPROPERTIES": [{"key": "comment", "value": "why"}]}
    view = read_definition(("v",), FakeServer(answers), lambda name: "{}")
    assert view is not None
    assert (view.view_text, view.comment) == ("SELECT 1 AS x", "why")


def test_no_definition() -> None:
    temporary: dict[str, Any] = {"DETAIL": _IS_A_VIEW, "TABLE": {"json_metadata": "{}"}}
    dropped: dict[str, Any] = {"DETAIL": _TABLE, "TBLPROPERTIES": ProgrammingError("gone", error_class="TABLE_OR_VIEW_NOT_FOUND")}
    for answers in (temporary, dropped):
        assert read_definition(("t",), FakeServer(answers), lambda name: "{}") is None
