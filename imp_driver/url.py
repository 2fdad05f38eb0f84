"""A URL of the driver -> options. Messages never show a token, wherever in the URL it stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from imp_driver.config import DEFAULT_PORT, Options
from imp_driver.errors import InterfaceError

_EXPECTED = "Expected imp:///folder?sketch=lazy or imp+connect://host:15002/schema?sketch=lazy."
_SECRET = re.compile(r"(//[^/@]*:)[^/@]*(@)|(\btoken=)[^&;#]*", re.IGNORECASE)


def options_from_url(url: str) -> Options:
    """Read a URL of one of these forms.

    ``imp:///folder?sketch=lazy``: an embedded warehouse; three slashes give a folder relative to the working directory, four an
    absolute one.
    ``imp+connect://user@host:15002/schema?token=..``: a Spark Connect server.

    Raises:
        InterfaceError: the URL is not of these forms.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise InterfaceError(f"Cannot read the URL {_shown(url)!r}: {_shown(str(error))}. {_EXPECTED}") from None
    values = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.scheme == "imp+connect":
        return _of_server(url, parts, port).with_values(_checked(url, parts, values))
    if parts.scheme not in ("imp", "imp+spark"):
        raise InterfaceError(f"Cannot read the URL {_shown(url)!r}: the scheme must be imp, as in imp:///folder?sketch=lazy.")
    if parts.netloc:
        raise InterfaceError(
            f"Cannot read the URL {_shown(url)!r}: an embedded warehouse has no host. Write imp:///folder (relative), imp:////folder "
            "(absolute), or imp+connect://host for a Spark Connect server."
        )
    folder = unquote(parts.path[1:]) if parts.path else ""
    if not folder:
        raise InterfaceError(f"The URL {_shown(url)!r} names no warehouse folder. Expected imp:///folder?sketch=lazy.")
    return Options(warehouse=folder).with_values(values)


def _of_server(url: str, parts: SplitResult, port: int | None) -> Options:
    if not parts.hostname:
        raise InterfaceError(f"The URL {_shown(url)!r} names no host. Expected imp+connect://host:{DEFAULT_PORT}.")
    schema = unquote(parts.path[1:]) or None
    user, token = (None if each is None else unquote(each) for each in (parts.username, parts.password))
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return Options(schema=schema, user_id=user or None, token=token or None).with_values({"server": f"{host}:{port or DEFAULT_PORT}"})


def _checked(url: str, parts: SplitResult, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raise InterfaceError where the query part repeats what stands before it."""
    for name, given in (("user_id", parts.username), ("token", parts.password), ("schema", parts.path[1:])):
        if given and name in values:
            raise InterfaceError(f"The URL {_shown(url)!r} gives {name!r} twice: before the question mark and after it.")
    return values


def _shown(url: str) -> str:
    return _SECRET.sub(lambda found: (found[1] or found[3]) + "***" + (found[2] or ""), url)
