"""Options of URLs and keywords: taken literally, or an InterfaceError; never more than one value's worth."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from sqlalchemy import URL

from imp_driver.errors import InterfaceError
from imp_driver.url import options_from_url
from imp_driver.values.option_kinds import SketchMode
from imp_driver.values.options import Options
from imp_sqlalchemy.url import connect_arguments
from tests.hostile import strings
from tests.seeds import WIDE

TEXTS = tuple(strings(10_000 if WIDE else 2_500))
QUOTED = tuple((text, quote_plus(text)) for text in TEXTS)
TEXT_OPTIONS = ("schema", "driver_memory", "user_id", "token", "master", "store", "graph")
OTHERS = tuple(field.name for field in fields(Options) if field.name not in ("warehouse", "server", *TEXT_OPTIONS))


def _with(options: Options, name: str, value: Any) -> Options:
    return replace(options, **{name: value})


def test_a_folder_is_taken_as_it_is_or_refused() -> None:
    taken = 0
    for text in TEXTS:
        try:
            options = options_from_url(f"imp:///{quote(text, safe='')}")
        except InterfaceError:
            continue
        assert options == Options(warehouse=text)
        assert ";" not in text
        taken += 1
    assert taken > 1_000


@pytest.mark.parametrize("name", TEXT_OPTIONS)
def test_an_option_of_text_is_taken_as_it_is_or_refused(name: str) -> None:
    for text, quoted in QUOTED:
        try:
            options = options_from_url(f"imp:///house?{name}={quoted}")
        except InterfaceError:
            continue
        assert options == _with(Options(warehouse="house"), name, text)


def test_a_server_is_a_host_and_a_port_or_refused() -> None:
    for _, quoted in QUOTED:
        try:
            options = options_from_url(f"imp:///house?server={quoted}")
        except InterfaceError:
            continue
        assert options.server is not None
        assert not set(options.server) & set(" /;?@")


@pytest.mark.parametrize("name", OTHERS)
def test_an_option_of_another_type_is_never_text(name: str) -> None:
    kind = type(getattr(Options(), name))
    for _, quoted in QUOTED:
        try:
            options = options_from_url(f"imp:///house?{name}={quoted}")
        except InterfaceError:
            continue
        assert _with(options, name, getattr(Options(), name)) == Options(warehouse="house")
        assert isinstance(getattr(options, name), int) or type(getattr(options, name)) is kind


def test_no_name_but_a_known_one_is_an_option() -> None:
    known = {field.name for field in fields(Options)}
    for text, quoted in QUOTED:
        if text not in known:
            with pytest.raises(InterfaceError):
                options_from_url(f"imp:///house?{quoted}=1&{quoted}=2")


@pytest.mark.parametrize(
    "url",
    [
        "imp:///house?warehouse=other",
        "imp:///house?sketch=off&sketch=lazy",
        "imp:///house#?sketch=off",
        "imp:///ho\nuse",
        "imp:///house?schema=a\tb",
        "imp:///house?driver_memory=4g%20-javaagent:x",
        "imp:///house?driver_memory=4g%22",
        "imp:///house?schema=a%00",
        "imp:///house?schema=%24%7Benv:HOME%7D",
        "imp:///house;create=false",
    ],
)
def test_what_would_mean_more_is_refused(url: str) -> None:
    with pytest.raises(InterfaceError):
        options_from_url(url)


def test_the_dialect_passes_options_on_one_by_one() -> None:
    for text in TEXTS[:2_000]:
        given = connect_arguments(URL.create("imp", database="house", query={"schema": text}))
        assert given == {"schema": text, "warehouse": "house"}


def test_what_a_running_engine_does_not_follow_is_named() -> None:
    started = Options().with_values({"cores": 2, "conf.spark.x": "1"})
    assert started.unheard_by(started) == ()
    assert Options(sketch=SketchMode.OFF, memory=1).unheard_by(started) == ()
    asked = Options().with_values({"cores": 4, "driver_memory": "8g", "conf.spark.x": "2", "fragments": 3})
    assert asked.unheard_by(started) == ("cores", "driver_memory", "conf")
