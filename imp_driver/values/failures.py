"""What may be logged of an exception: its classes and where it came from. Messages are left out, they quote values of queries and rows."""

from __future__ import annotations

import traceback

from imp_driver.errors import Error

_MOST_FRAMES = 6


def described(error: BaseException) -> str:
    """Return class, Spark's error condition and SQLSTATE of an error of this driver; of any other, class and places, the last first."""
    name = type(error).__name__
    if isinstance(error, Error):
        return " ".join(filter(None, (name, error.error_class, error.sqlstate)))
    frames = traceback.extract_tb(error.__traceback__)[: -_MOST_FRAMES - 1 : -1]
    places = " < ".join(f"{'/'.join(frame.filename.rsplit('/', 3)[1:])}:{frame.lineno} {frame.name}" for frame in frames)
    return f"{name} in {places}" if places else name
