"""The folder of a warehouse that is there already: what only looks at one makes none where a name is mistyped."""

from __future__ import annotations

from pathlib import Path

from imp_driver.errors import OperationalError
from imp_driver.url import options_from_url


def folder_of(url: str) -> Path | None:
    """Return the folder of a URL's embedded warehouse; None for one at a server.

    Raises:
        InterfaceError, NotSupportedError: the URL cannot be read.
        OperationalError: there is no warehouse.
    """
    options = options_from_url(url)
    if options.warehouse is None:
        return None
    folder = Path(options.warehouse).expanduser().resolve()
    if not (folder / "_imp").is_dir():
        raise OperationalError(f"There is no warehouse in {folder}; the first connection to it makes one.")
    return folder
