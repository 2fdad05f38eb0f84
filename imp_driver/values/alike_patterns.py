"""Regular expressions that Python reads as Java does: of characters, classes of some, groups that are there once or not at all, and ends.

What the two languages have in other ways is not among them: escapes, the dot, groups that are repeated (whose matching Java does by
recursion, so that long texts fail there), classes within classes. Texts with the end of a line at their end are to be kept from ``$``,
before which Java knows more of these.
"""

from __future__ import annotations

import re
from functools import lru_cache

_ONE = r"(?:\[\^?[^\]\[\\&]+\]|[^\\\[\](){}.*+?^$|])"
_TOKEN = re.compile(rf"{_ONE}(?:[*+?]\??|\{{\d+(?:,\d*)?\}})?|(?P<open>\((?:\?[:=])?)|(?P<close>\)\??)|[|^$]")


@lru_cache(maxsize=1024)
def groups_of(pattern: str) -> int | None:
    """Return how many groups of a pattern have numbers; None where Python and Java might read it otherwise."""
    place = depth = 0
    while place < len(pattern):
        found = _TOKEN.match(pattern, place)
        if found is None:
            return None
        depth += (found["open"] is not None) - (found["close"] is not None)
        if depth < 0:
            return None
        place = found.end()
    try:
        return re.compile(pattern).groups if depth == 0 else None
    except re.error:
        return None
