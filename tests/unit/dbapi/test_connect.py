"""What connect refuses before anything is opened, and what a URL says."""

from __future__ import annotations

from typing import Any

import pytest

import imp_driver
from imp_driver.config import Options, SketchMode, options_from_url
from tests.unit.dbapi.fakes import FakePipeline


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("imp:///folder", Options(warehouse="folder")),
        ("imp:////abs/folder?sketch=shadow&fragments=7", Options(warehouse="/abs/folder", sketch=SketchMode.SHADOW, fragments=7)),
        ("imp:///f?sketch=eager", Options(warehouse="f", sketch=SketchMode.EAGER)),
        ("imp:///f?sketch=eager&eager_batch=auto", Options(warehouse="f", sketch=SketchMode.EAGER, eager_batch=None)),
        ("imp:///f?sketch=eager&eager_batch=20", Options(warehouse="f", sketch=SketchMode.EAGER, eager_batch=20)),
        ("imp:///f?trace_query_text=TRUE", Options(warehouse="f", trace_query_text=True)),
        ("imp:///f?trace_query_text=0", Options(warehouse="f", trace_query_text=False)),
        ("imp:///a%20b?schema=s&cores=2", Options(warehouse="a b", schema="s", cores=2)),
    ],
)
def test_urls(url: str, expected: Options) -> None:
    assert options_from_url(url) == expected


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        ((), {}, imp_driver.InterfaceError, "exactly one"),
        (("imp:///x",), {"warehouse": "y"}, imp_driver.InterfaceError, "exactly one"),
        (("postgres:///x",), {}, imp_driver.InterfaceError, "scheme must be imp"),
        (("imp://host/x",), {}, imp_driver.InterfaceError, "no host"),
        (("imp://",), {}, imp_driver.InterfaceError, "names no warehouse"),
        (("imp:///x?sketch=maybe",), {}, imp_driver.InterfaceError, "off, lazy, eager or shadow"),
        (("imp:///x?speed=9",), {}, imp_driver.InterfaceError, "Unknown option 'speed'"),
        (("imp:///x?fragments=0",), {}, imp_driver.InterfaceError, "above 0"),
        (("imp+connect://host:1/s",), {}, imp_driver.NotSupportedError, "Connect"),
        (("imp:///x?eager_batch=0",), {}, imp_driver.InterfaceError, "above 0"),
        (("imp:///x",), {"eager_batch": "always"}, imp_driver.InterfaceError, "above 0"),
        (("imp:///x?trace_query_text=maybe",), {}, imp_driver.InterfaceError, "true or false"),
        ((object(),), {}, imp_driver.InterfaceError, "must be text"),
    ],
)
def test_refusals(arguments: tuple[Any, ...], options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        imp_driver.connect(*arguments, **options)


def test_errors_keep_their_fields_when_pickled() -> None:
    import pickle

    error = imp_driver.DataError("text", error_class="DIVIDE_BY_ZERO", sqlstate="22012", query_id="q")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.args, copy.error_class, copy.sqlstate, copy.query_id) == (
        imp_driver.DataError,
        ("text",),
        "DIVIDE_BY_ZERO",
        "22012",
        "q",
    )


def test_a_definition_is_asked_for_by_table_and_schema() -> None:
    with imp_driver.Connection(FakePipeline()) as connection:
        for table, schema, asked in (("t", None, "t"), ("t", "s", "s.t")):
            found = connection.definition(table, schema)
            assert found is not None
            assert found.properties == {"name": asked}
    with pytest.raises(imp_driver.InterfaceError, match="closed"):
        connection.definition("t")
