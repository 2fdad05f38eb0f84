"""A URL of the driver -> options. Messages never show a token, wherever in the URL it stands."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from imp_driver.errors import InterfaceError
from imp_driver.values.option_reader import DEFAULT_PORT, has_control
from imp_driver.values.options import Options
from imp_driver.values.redaction import shown_url

_EXPECTED = "Expected imp:///folder?sketch=lazy or imp+connect://host:15002/schema?sketch=lazy."


def options_from_url(url: str) -> Options:
    """Read a URL of one of these forms.

    ``imp:///folder?sketch=lazy``: an embedded warehouse; three slashes give a folder relative to the working directory, four an
    absolute one.
    ``imp+connect://user@host:15002/schema?token=..``: a Spark Connect server.

    Raises:
        InterfaceError: the URL is not of these forms.
    """
    shown = shown_url(url)
    try:
        parts = urlsplit(url)
        port = parts.port
        pairs = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        # A message of the library may quote what is secret.
        raise InterfaceError(f"Cannot read the URL {shown!r}. {_EXPECTED}") from None
    if parts.scheme not in ("imp", "imp+spark", "imp+connect"):
        raise InterfaceError(
            f"Cannot read the URL {shown!r}: the scheme must be imp, as in imp:///folder?sketch=lazy, imp+spark or imp+connect."
        )
    if has_control(url) or parts.fragment:
        raise InterfaceError(f"Cannot read the URL {shown!r}: it has a control character or a #. Write them as %0A or %23.")
    if parts.scheme == "imp+connect":
        return Options().with_values(_once([*_of_server(shown, parts, port), *pairs]))
    if parts.netloc:
        raise InterfaceError(
            f"Cannot read the URL {shown!r}: an embedded warehouse has no host. Write imp:///folder (relative), imp:////folder (absolute), "
            "or imp+connect://host for a Spark Connect server."
        )
    folder = unquote(parts.path[1:]) if parts.path else ""
    if not folder:
        raise InterfaceError(f"The URL {shown!r} names no warehouse folder. Expected imp:///folder?sketch=lazy.")
    return Options().with_values(_once([("warehouse", folder), *pairs]))


def _of_server(shown: str, parts: SplitResult, port: int | None) -> list[tuple[str, str]]:
    if ";" in parts.path:
        raise InterfaceError(f"Cannot read the URL {shown!r}: options follow a question mark, as in imp+connect://host/schema?user_id=me.")
    if not parts.hostname:
        raise InterfaceError(f"The URL {shown!r} names no host. Expected imp+connect://host:{DEFAULT_PORT}.")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    given = {"user_id": parts.username, "token": parts.password, "schema": parts.path[1:]}
    return [("server", f"{host}:{port or DEFAULT_PORT}"), *((name, unquote(value)) for name, value in given.items() if value)]


def _once(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Raise InterfaceError where an option is given twice, in the query part or before it."""
    options = dict(pairs)
    twice = next((name for name in options if [each for each, _ in pairs].count(name) > 1), None)
    if twice is not None:
        raise InterfaceError(f"The URL gives the option {twice!r} twice.")
    return options
