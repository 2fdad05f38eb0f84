"""What would have stood where text stops being SPARQL.

The parser tells where the alternative began that came furthest. A copy of its grammar, which is used for texts that fail alone, tells how
far it came.
"""

from __future__ import annotations

import copy
import re
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyparsing import ParserElement

_MOST: Final = 12
_SIGNS: Final = {"?": "a variable", "$": "a variable", "<": "an IRI", ":": "a prefixed name"}
"""What begins with a sign that the grammar has apart from its name."""
_PATTERNS: Final = {"'": "a string", '"': "a string", "[0-9]": "a number", "_:": "a blank node", "[A-Za-z": "a prefixed name"}
_WORD: Final = re.compile(r"[A-Za-z]\w*")


class Expectations:
    """Where a rule of the grammar fails at last, and on what."""

    def __init__(self, rule: ParserElement) -> None:
        self._lock = threading.Lock()
        self._rule = copy.deepcopy(rule)
        self._furthest = -1
        self._found: set[str] = set()
        for element in self._rule.visit_all():  # type: ignore[no-untyped-call]
            if _is_leaf(element):
                element.set_fail_action(self._fail)

    def of(self, text: str) -> tuple[int, str] | None:
        """Return the offset that text is SPARQL up to, and what could stand there; None where nothing tells."""
        from pyparsing import ParseBaseException

        with self._lock:
            self._furthest, self._found = -1, set()
            with suppress(ParseBaseException, RecursionError):
                self._rule.parse_string(text, parse_all=True)
            if self._furthest < 0:
                return None
            return self._furthest, _told(self._found)

    def _fail(self, text: str, place: int, element: ParserElement, _: Exception) -> None:
        # Spaces before what was expected are none of it.
        place += len(text[place:]) - len(text[place:].lstrip())
        if place > self._furthest:
            self._furthest, self._found = place, set()
        if place == self._furthest:
            self._found.add(_name(element))


def _is_leaf(element: ParserElement) -> bool:
    return not getattr(element, "exprs", None) and getattr(element, "expr", None) is None


def _told(found: set[str]) -> str:
    if "STRLEN" in found:
        # Where one function can stand all can, and aggregates, of which the grammar knows no places.
        found = {name for name in found if not _WORD.fullmatch(name)} | {"a function"}
    # Kinds of terms first, then words, then signs.
    names = sorted(found, key=lambda name: (not name.islower() or "'" in name, "'" in name, name))
    more = " .." if len(names) > _MOST else ""
    return f"{'one of ' if len(names) > 1 else ''}{', '.join(names[:_MOST])}{more}"


def _name(element: ParserElement) -> str:
    match = getattr(element, "match", None)
    if isinstance(match, str):
        return _SIGNS.get(match, match if _WORD.fullmatch(match) else f"'{match}'")
    pattern = str(getattr(element, "pattern", ""))
    for beginning, name in _PATTERNS.items():
        if pattern.startswith(beginning):
            return name
    return "a name"
