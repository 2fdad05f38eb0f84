"""Text from data that is shown to people: it may not move the cursor, change colours or the order of letters."""

from __future__ import annotations

import unicodedata

_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plain(text: str) -> str:
    """Return text with control characters and marks of direction as escapes; line breaks and tabs stay."""
    return "".join(_escaped(each) if _is_control(each) else each for each in text)


def _is_control(character: str) -> bool:
    return character in _DIRECTIONS or (unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t")


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
