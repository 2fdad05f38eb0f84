"""A SQLAlchemy URL -> the keyword arguments of ``imp_driver.connect``."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import URL

import imp_driver

FORMS = "imp:///folder (relative), imp:////folder (absolute), or imp:// with connect_args={'session': spark}"


def connect_arguments(url: URL) -> dict[str, Any]:
    """Return the warehouse and the options of a URL.

    Raises:
        imp_driver.InterfaceError: a part that an embedded warehouse does not have.
        imp_driver.NotSupportedError: ``imp+connect://``.
    """
    if url.drivername == "imp+connect":
        raise imp_driver.NotSupportedError("imp+connect:// (Spark Connect) is not there yet; use imp:///folder.")
    for part, given in (("user name", url.username), ("password", url.password), ("host", url.host), ("port", url.port)):
        if given:
            raise imp_driver.InterfaceError(f"The URL has a {part}, but an embedded warehouse has none. Write {FORMS}.")
    options: dict[str, Any] = {}
    for name, value in url.query.items():
        if not isinstance(value, str):
            raise imp_driver.InterfaceError(f"The URL gives the option {name!r} {len(value)} times.")
        options[name] = value
    if url.database:
        options["warehouse"] = url.database
    return options
