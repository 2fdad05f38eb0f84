"""URLs of SQLAlchemy and their options."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import create_engine, make_url

import imp_driver
from imp_sqlalchemy import ImpDialect
from imp_sqlalchemy.url import connect_arguments


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("imp:///house", {"warehouse": "house"}),
        ("imp:////data/house?sketch=eager&fragments=50", {"warehouse": "/data/house", "sketch": "eager", "fragments": "50"}),
        ("imp+spark:///a%20folder", {"warehouse": "a folder"}),
        ("imp://", {}),
        ("imp+connect://server", {"server": "server"}),
        (
            "imp+connect://me:secret@server:15002/default?sketch=off&use_ssl=true",
            {"server": "server:15002", "schema": "default", "user_id": "me", "token": "secret", "sketch": "off", "use_ssl": "true"},
        ),
        ("imp+spark:///w?conf.spark.ui.enabled=true", {"warehouse": "w", "conf.spark.ui.enabled": "true"}),
    ],
)
def test_url(url: str, expected: dict[str, Any]) -> None:
    assert ImpDialect().create_connect_args(make_url(url)) == ((), expected)


@pytest.mark.parametrize(
    ("url", "kind", "text"),
    [
        ("imp://localhost/house", imp_driver.InterfaceError, "has a host"),
        ("imp://me@/house", imp_driver.InterfaceError, "user name"),
        ("imp:///house?sketch=off&sketch=lazy", imp_driver.InterfaceError, "'sketch' 2 times"),
        ("imp+connect:///default", imp_driver.InterfaceError, "names no host"),
    ],
)
def test_parts_that_mean_nothing(url: str, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        connect_arguments(make_url(url))


@pytest.mark.parametrize("url", ["imp:///house", "imp+spark:///house", "imp+connect://server"])
def test_the_dialect_is_found_by_its_entry_points(url: str) -> None:
    assert isinstance(create_engine(url).dialect, ImpDialect)


def test_the_nearest_option_is_named(tmp_path: Any) -> None:
    with pytest.raises(imp_driver.InterfaceError, match="Did you mean 'sketch'"):
        imp_driver.connect(warehouse=str(tmp_path), sketsh="off")
