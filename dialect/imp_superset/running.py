"""Cursors that may have to be cancelled: Superset keeps a text with a query, and gives it back in another thread of the process."""

from __future__ import annotations

import uuid
from weakref import WeakValueDictionary

import imp_driver

_cursors: WeakValueDictionary[str, imp_driver.Cursor] = WeakValueDictionary()


def remember(cursor: imp_driver.Cursor) -> str:
    """Return a text that stands for the cursor for as long as it lives."""
    key = uuid.uuid4().hex
    _cursors[key] = cursor
    return key


def cancel(key: str) -> bool:
    """Stop what the cursor runs; False when it is gone, or of another process."""
    cursor = _cursors.get(key)
    if cursor is None:
        return False
    cursor.cancel()
    return True
