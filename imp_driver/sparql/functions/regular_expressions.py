"""REGEX and REPLACE (sections 17.4.3.14 and 17.4.3.15): regular expressions of XPath (functions 2.0, section 7.6), by those of Python.

Both are much alike; what is not is translated: classes and their differences, what ``^``, ``$`` and ``.`` stand for, groups that matched
nothing. What XPath has no meaning for is an error, though Python may have one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from imp_driver.sparql.functions.character_classes import BadPattern, code_text, escaped_class, property_class
from imp_driver.sparql.functions.strings import parts, plain
from imp_driver.sparql.terms import Term

_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t"}
_SINGLE: Final = frozenset("\\|.-^?*+{}()[]$")
_QUANTITY: Final = re.compile(r"[?*+]|\{[0-9]+(?:,[0-9]*)?\}")
_REPLACEMENT: Final = re.compile(r"\\([\\$])|\$([0-9]+)|[^\\$]+|(?P<bad>.)", re.DOTALL)


def matches(term: Term, pattern: Term, flags: Term = '""') -> bool | None:
    """REGEX; None is an error."""
    found, compiled = parts(term), _compiled(plain(pattern), plain(flags))
    return None if found is None or compiled is None else compiled.search(found[0]) is not None


def replaced(term: Term, pattern: Term, replacement: Term, flags: Term = '""') -> Term | None:
    """REPLACE; None is an error, which a pattern is too that matches the empty text."""
    found, compiled, by = parts(term), _compiled(plain(pattern), plain(flags)), plain(replacement)
    if found is None or compiled is None or by is None or compiled.search("") is not None:
        return None
    pieces = [by] if "q" in (plain(flags) or "") else _pieces(by, compiled.groups)
    if pieces is None:
        return None
    text, tag = found
    return f'"{compiled.sub(lambda match: "".join(_taken(match, each) for each in pieces), text)}"{tag}'


def _taken(match: re.Match[str], piece: str | int) -> str:
    if isinstance(piece, str):
        return piece
    return (match[piece] or "") if piece <= (match.re.groups or 0) else ""


def _pieces(replacement: str, groups: int) -> list[str | int] | None:
    """Return texts and numbers of groups; None where there is a ``\\`` or ``$`` without a meaning."""
    pieces: list[str | int] = []
    for found in _REPLACEMENT.finditer(replacement):
        if found["bad"]:
            return None
        if found[2] is None:
            pieces.append(found[1] or found[0])
            continue
        # As many digits as there is a group for; the rest is text.
        length = max((size for size in range(1, len(found[2]) + 1) if size == 1 or int(found[2][:size]) <= groups), default=1)
        pieces += [int(found[2][:length]), found[2][length:]]
    return pieces


@lru_cache(maxsize=1024)
def _compiled(pattern: str | None, flags: str | None) -> re.Pattern[str] | None:
    if pattern is None or flags is None or not set(flags) <= set("smixq"):
        return None
    options = re.IGNORECASE if "i" in flags else re.NOFLAG
    if "q" in flags:
        return re.compile(re.escape(pattern), options)
    try:
        return re.compile(_Translation(pattern, flags).whole(), options)
    except (BadPattern, re.error, OverflowError):
        return None


class _Translation:
    """One pass over a pattern of XPath."""

    def __init__(self, pattern: str, flags: str) -> None:
        self.pattern = pattern
        self.place = 0
        self.skips_space = "x" in flags
        self.any = "(?s:.)" if "s" in flags else "[^\\n]"
        self.start = "(?:\\A|(?<=\\n)(?!\\Z))" if "m" in flags else "\\A"
        self.end = "(?:(?=\\n)|\\Z)" if "m" in flags else "\\Z"
        self.opened = 0
        self.closed: set[int] = set()

    def whole(self) -> str:
        found = self._alternatives()
        if self.place < len(self.pattern):
            raise BadPattern(self.pattern)
        return found

    def _peek(self) -> str:
        while self.skips_space and self.pattern[self.place : self.place + 1] in (" ", "\t", "\n", "\r"):
            self.place += 1
        return self.pattern[self.place : self.place + 1]

    def _next(self) -> str:
        found = self.pattern[self.place : self.place + 1]
        if not found:
            raise BadPattern(self.pattern)
        self.place += 1
        return found

    def _alternatives(self) -> str:
        pieces: list[str] = []
        while (sign := self._peek()) and sign != ")":
            if sign == "|":
                self.place += 1
                pieces.append("|")
            else:
                pieces.append(self._atom() + self._quantity())
        return "".join(pieces)

    def _quantity(self) -> str:
        sign = self._peek()
        if not sign or sign not in "?*+{":
            return ""
        found = _QUANTITY.match(self.pattern, self.place)
        if found is None:
            raise BadPattern(self.pattern)
        self.place = found.end()
        is_reluctant = self._peek() == "?"
        self.place += is_reluctant
        return found[0] + "?" * is_reluctant

    def _atom(self) -> str:
        match self._next():
            case ".":
                return self.any
            case "^":
                return self.start
            case "$":
                return self.end
            case "(":
                return self._group()
            case "[":
                return self._class()
            case "\\":
                return self._escape()
            case "?" | "*" | "+" | "{" | "}" | "]" as sign:
                raise BadPattern(sign)
            case sign:
                return re.escape(sign)

    def _group(self) -> str:
        if self.pattern.startswith("?:", self.place):
            self.place += 2
            number = None
        else:
            self.opened += 1
            number = self.opened
        inner = self._alternatives()
        if self._peek() != ")":
            raise BadPattern(self.pattern)
        self.place += 1
        if number is None:
            return f"(?:{inner})"
        self.closed.add(number)
        return f"({inner})"

    def _escape(self) -> str:
        sign = self._next()
        if "1" <= sign <= "9":
            return self._reference(sign)
        character = self._character(sign)
        return re.escape(character) if character else f"[{self._escaped_class(sign)}]"

    def _reference(self, digits: str) -> str:
        """Return a reference to a group, which matches the empty text where the group did not match."""
        while "0" <= self.pattern[self.place : self.place + 1] <= "9" and int(digits + self.pattern[self.place]) <= self.opened:
            digits += self._next()
        if int(digits) not in self.closed:
            raise BadPattern(digits)
        return f"(?:(?({digits})\\{digits}|))"

    def _character(self, sign: str) -> str | None:
        return sign if sign in _SINGLE else _CONTROLS.get(sign)

    def _escaped_class(self, sign: str) -> str:
        if sign not in "pP":
            return escaped_class(sign)
        end = self.pattern.find("}", self.place)
        if self.pattern[self.place : self.place + 1] != "{" or end < 0:
            raise BadPattern(self.pattern)
        name = self.pattern[self.place + 1 : end]
        self.place = end + 1
        return property_class(name, is_complement=sign == "P")

    def _class(self) -> str:
        """Return ``[..]``, of which another class may be taken: ``[a-z-[aeiou]]``."""
        is_negated = self.pattern.startswith("^", self.place)
        self.place += is_negated
        items: list[str] = []
        removed = ""
        while not self.pattern.startswith("]", self.place) or not items:
            if self.pattern.startswith("-[", self.place) and items:
                self.place += 2
                removed = self._class()
                break
            items.append(self._item())
        if self._next() != "]":
            raise BadPattern(self.pattern)
        found = f"[{'^' if is_negated else ''}{''.join(items)}]"
        return f"(?:(?!{removed}){found})" if removed else found

    def _item(self) -> str:
        """Return a character, a range of some, or a class with a letter."""
        first = self._class_character()
        if len(first) > 1:
            return first
        is_range = self.pattern.startswith("-", self.place) and not self.pattern.startswith(("-]", "-["), self.place)
        if not is_range or first == "-":
            return code_text(ord(first))
        self.place += 1
        last = self._class_character()
        if len(last) > 1 or last < first:
            raise BadPattern(self.pattern)
        return f"{code_text(ord(first))}-{code_text(ord(last))}"

    def _class_character(self) -> str:
        """Return one character, or a whole class as Python writes it, which is longer."""
        sign = self._next()
        if sign in "[]":
            raise BadPattern(sign)
        if sign != "\\":
            return sign
        sign = self._next()
        return self._character(sign) or self._escaped_class(sign)
