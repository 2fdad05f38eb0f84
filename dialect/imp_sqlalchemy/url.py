"""A SQLAlchemy URL -> the keyword arguments of ``imp_driver.connect``; and a URL whose text hides secret options."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy.engine import URL

import imp_driver

FORMS = "imp:///folder (relative), imp:////folder (absolute), imp+connect://host:15002, or imp:// with connect_args={'session': spark}"


_SECRET = re.compile(r"token|passw|pwd|secret|credential|signature|\bsig\b|\bauth|key\b", re.IGNORECASE)


class HidingURL(URL):
    """A URL that hides the values of secret options wherever SQLAlchemy hides a password: in its text and in the repr of an engine."""

    __slots__ = ()

    def render_as_string(self, hide_password: bool = True) -> str:
        if not hide_password:
            return super().render_as_string(hide_password=False)
        shown = {name: "***" if _SECRET.search(name) else value for name, value in self.query.items()}
        return URL.create(*self[:6], query=shown).render_as_string()


def connect_arguments(url: URL) -> dict[str, Any]:
    """Return the warehouse or the server, and the options of a URL.

    Raises:
        imp_driver.InterfaceError: a part that an embedded warehouse does not have, or no host for Spark Connect.
    """
    if url.drivername == "imp+connect":
        return _server(url) | _options(url)
    for part, given in (("user name", url.username), ("password", url.password), ("host", url.host), ("port", url.port)):
        if given:
            raise imp_driver.InterfaceError(f"The URL has a {part}, but an embedded warehouse has none. Write {FORMS}.")
    options = _options(url)
    if url.database:
        options["warehouse"] = url.database
    return options


def _server(url: URL) -> dict[str, Any]:
    if not url.host:
        raise imp_driver.InterfaceError("The URL names no host. Write imp+connect://host:15002/schema.")
    host = f"[{url.host}]" if ":" in url.host else url.host
    # SQLAlchemy hides a password wherever it shows a URL, so that is the place for a token.
    given = {"schema": url.database, "user_id": url.username, "token": url.password}
    return {"server": host if url.port is None else f"{host}:{url.port}"} | {name: str(value) for name, value in given.items() if value}


def _options(url: URL) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for name, value in url.query.items():
        if not isinstance(value, str):
            raise imp_driver.InterfaceError(f"The URL gives the option {name!r} {len(value)} times.")
        options[name] = value
    return options
