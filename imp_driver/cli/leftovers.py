"""What a table that was not made leaves behind: a folder of files without a log, in which the next try finds no room."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def without_leftovers(folder: Path | None) -> Iterator[None]:
    """Remove the folder of a new table where the block fails before the table's first commit; None where it is not known."""
    is_new = folder is not None and not folder.exists()
    try:
        yield
    except BaseException:
        if folder is not None and is_new and folder.is_dir() and not any((folder / "_delta_log").glob("*.json")):
            shutil.rmtree(folder, ignore_errors=True)
        raise
