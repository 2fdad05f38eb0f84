"""What connect refuses before anything is opened, and what a URL says."""

from __future__ import annotations

from typing import Any

import pytest

import imp_driver
from imp_driver.url import options_from_url
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from tests.unit.dbapi.fakes import FakePipeline


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("imp:///folder", Options(warehouse="folder")),
        ("imp:////abs/folder?sketch=shadow&fragments=7", Options(warehouse="/abs/folder", sketch=SketchMode.SHADOW, fragments=7)),
        ("imp:///w?background_share=0.25&sketch_guard=0", Options(warehouse="w", background_share=0.25, sketch_guard=0.0)),
        ("imp:///f?sketch=eager", Options(warehouse="f", sketch=SketchMode.EAGER)),
        ("imp:///f?sketch=eager&eager_batch=auto", Options(warehouse="f", sketch=SketchMode.EAGER, eager_batch=None)),
        ("imp:///f?sketch=eager&eager_batch=20", Options(warehouse="f", sketch=SketchMode.EAGER, eager_batch=20)),
        ("imp:///f?trace_query_text=TRUE", Options(warehouse="f", trace_query_text=True)),
        ("imp:///f?trace_query_text=0", Options(warehouse="f", trace_query_text=False)),
        ("imp:///a%20b?schema=s&cores=2", Options(warehouse="a b", schema="s", cores=2)),
        ("imp+connect://host", Options(server="host:15002")),
        ("imp+connect://me@host:7/s?sketch=off", Options(server="host:7", user_id="me", schema="s", sketch=SketchMode.OFF)),
        ("imp+connect://host?token=a%2Bb&use_ssl=true", Options(server="host:15002", token="a+b", use_ssl=True)),
        ("imp+connect://me:secret@[::1]:9/", Options(server="[::1]:9", user_id="me", token="secret")),
        (
            "imp+spark:///w?master=spark://h:7077&conf.spark.executor.memory=2g&conf.spark.executor.cores=1",
            Options(warehouse="w", master="spark://h:7077", conf=(("spark.executor.cores", "1"), ("spark.executor.memory", "2g"))),
        ),
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
        (("imp:///x?snapshot=2999-01-01",), {}, imp_driver.InterfaceError, "a time of the past"),
        ((), {"warehouse": ""}, imp_driver.InterfaceError, "must name a folder, not ''"),
        ((), {"warehouse": 5}, imp_driver.InterfaceError, "must name a folder, not 5"),
        (("imp:///x?answers=maybe",), {}, imp_driver.InterfaceError, "on or off"),
        (("imp:///x",), {"fragments": 2.5}, imp_driver.InterfaceError, "whole number"),
        (("imp:///x",), {"memory": True}, imp_driver.InterfaceError, "whole number"),
        (("imp:///x?background_share=0",), {}, imp_driver.InterfaceError, "above 0 and up to 1"),
        (("imp:///x?sketch_guard=2",), {}, imp_driver.InterfaceError, "from 0 to 1"),
        (("imp+connect:///s",), {}, imp_driver.InterfaceError, "names no host"),
        (("imp+connect://host:port/s",), {}, imp_driver.InterfaceError, "Cannot read the URL"),
        (("imp+connect://host/s?schema=t",), {}, imp_driver.InterfaceError, "'schema' twice"),
        (("imp+connect://host?use_ssl=perhaps",), {}, imp_driver.InterfaceError, "true or false"),
        (("imp+connect://host?cores=2",), {}, imp_driver.InterfaceError, "'cores' is for an embedded warehouse"),
        (("imp+connect://host?warehouse=w",), {}, imp_driver.InterfaceError, "not both"),
        ((), {"server": "sc://host/;token=x"}, imp_driver.InterfaceError, "host or host:port"),
        (("imp:///x?token=t",), {}, imp_driver.InterfaceError, r"'token' is for imp\+connect"),
        ((), {"session": object(), "master": "yarn"}, imp_driver.InterfaceError, "'master' is for an embedded warehouse"),
        (("imp:///x",), {"conf": "spark.a=b"}, imp_driver.InterfaceError, "must be a mapping"),
        (("imp:///x?eager_batch=0",), {}, imp_driver.InterfaceError, "above 0"),
        (("imp:///x",), {"eager_batch": "always"}, imp_driver.InterfaceError, "above 0"),
        (("imp:///x?trace_query_text=maybe",), {}, imp_driver.InterfaceError, "true or false"),
        ((object(),), {}, imp_driver.InterfaceError, "must be text"),
        (("imp:///x?memory=much",), {}, imp_driver.InterfaceError, "above 0, or a size such as 512m or 2g, not 'much'"),
        (("imp:///x?memory=0g",), {}, imp_driver.InterfaceError, "above 0"),
        (("imp:///x?shared_files=true",), {}, imp_driver.InterfaceError, "'shared_files' is about"),
        (("imp:///x?master=foo",), {}, imp_driver.InterfaceError, r"must be local\[4\], spark://host:7077, .* not 'foo'"),
        (("imp:///x?store=ftp://h/x",), {}, imp_driver.InterfaceError, "must be a folder, off, or a URL"),
        *(
            (("imp:///x",), {"graph": name}, imp_driver.InterfaceError, "must name a graph: graph, schema.graph or catalog")
            for name in ("", " ", "a.b.c.d", ".a", "a.", "a..b", "`a")
        ),
    ],
)
def test_refusals(arguments: tuple[Any, ...], options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        imp_driver.connect(*arguments, **options)


@pytest.mark.parametrize(
    "url",
    [
        "imp+connect://me:tiger@host:port/s",
        "imp+connect://host:port?token=tiger",
        "imp+connect://me:tiger@/s",
        "imp+connect://host?user_id=a&token=tiger&speed=9",
        "imp+connect://me:tiger@host?token=tiger",
        "imp://me:tiger@host/x?token=tiger",
        "imp+connect://[tiger?token=tiger",
        "postgres://me:tiger@host/x",
    ],
)
def test_no_message_shows_a_token(url: str) -> None:
    with pytest.raises(imp_driver.InterfaceError) as caught:
        imp_driver.connect(url)
    assert "tiger" not in str(caught.value).replace("[tiger", "")
    assert caught.value.__cause__ is None


def test_no_repr_shows_a_token() -> None:
    assert "tiger" not in repr(options_from_url("imp+connect://me:tiger@host"))


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
        for wrong in ((5, None), ("t", 5)):
            with pytest.raises(imp_driver.ProgrammingError, match="as text"):
                connection.definition(*wrong)
    with pytest.raises(imp_driver.InterfaceError, match="closed"):
        connection.definition("t")


@pytest.mark.parametrize(
    ("text", "size"), [("1000", 1000), ("64k", 1 << 16), ("512M", 1 << 29), ("2g", 1 << 31), ("1GiB", 1 << 30), ("1tb", 1 << 40)]
)
def test_memory_is_a_size(text: str, size: int) -> None:
    assert Options().with_values({"memory": text}).memory == size
