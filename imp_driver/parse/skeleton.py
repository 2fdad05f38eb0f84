"""A text without its constants, by one look at its characters: texts of one skeleton have the same tokens but for the constants.

That is so where nothing of a constant can begin or end another token: where the text has no comment, no escape, no marker, no other
quotes than those of texts and names, and no number beside a character that could be one token with it. Other texts have no skeleton.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PIECES = re.compile(r"(`[^`]*`)|'([^']*)'|(?<![\w.@`])([0-9]+(?:\.[0-9]+)?)(?![\w.`'])")
"""A name, which stays; a text; a number."""
_UNCERTAIN = re.compile(r"""[\x00-\x02\\$]""")
_UNCERTAIN_OUTSIDE = re.compile(r"""['"`?:;#]|--|/\*""")
_TEXT, _NUMBER, _NAME = "\x00", "\x01", "\x02"
"""What stands for a constant and for a name."""


@dataclass(frozen=True, slots=True)
class Skeleton:
    """``frame`` is the same for all texts of the skeleton; the constants are in order, with where they begin and end."""

    frame: str
    constants: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


def skeleton(text: str) -> Skeleton | None:
    """Return the skeleton of a text; None where its tokens are not certain."""
    if _UNCERTAIN.search(text) is not None:
        return None
    names: list[str] = []
    constants: list[str] = []
    spans: list[tuple[int, int]] = []

    def mark(match: re.Match[str]) -> str:
        name, string, number = match.groups()
        if name is not None:
            names.append(name)
            return _NAME
        constants.append(number if string is None else string)
        spans.append(match.span())
        return _NUMBER if string is None else _TEXT

    outside = _PIECES.sub(mark, text)
    if _UNCERTAIN_OUTSIDE.search(outside) is not None:
        return None
    return Skeleton(_NAME.join((outside, *names)), tuple(constants), tuple(spans))
