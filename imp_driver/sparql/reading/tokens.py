"""Tokens of SPARQL text, and the text as rdflib's parser is to see it.

That parser turns numbers into other ones that are equal, drops inverse members of negated property sets, widens tabs within strings, knows
not all their escapes and reads codepoint escapes of four digits as eight; and it knows no tokens, of which the longest counts. So numbers,
strings and such members are given to it as places of lists, and codepoint escapes are gone before it begins.
"""

from __future__ import annotations

import re
import secrets
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from imp_driver.errors import ProgrammingError
from imp_driver.sparql.terms import Term, n_triples

FIRST_NUMBER: Final = 4_000_000_000_000_000
"""What the first number of a text is called."""
INVERSE: Final = f"inverse-{secrets.token_hex(8)}:"
"""Scheme of the IRIs that stand for inverse members of negated sets; no text has it."""
WRITTEN: Final = f"written-{secrets.token_hex(8)}:"
"""Scheme of the IRIs that stand for those which the parser could take for comparisons, such as ``<?a&&?b>`` in ``?x<?a&&?b>?y``."""

UPDATES: Final = frozenset(["INSERT", "DELETE", "WITH", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY"])

_ESCAPED: Final = r"%[0-9a-fA-F]{2}|\\[_~.\-!$&'()*+,;=/?\#@%]"
"""Within local names (section 19.8, PLX)."""
_TOKEN = re.compile(
    r"""
    (?P<comment>\#[^\r\n]*)
    | (?P<iri><[^<>"{}|^`\\\x00-\x20]*>)
    | (?P<string>'''(?:'{0,2}(?:[^'\\]|\\.))*'''|\"""(?:"{0,2}(?:[^"\\]|\\.))*\"""|'(?:[^'\\\r\n]|\\.)*'|"(?:[^"\\\r\n]|\\.)*")
    | (?P<blank>_:\w(?:[\w.\-\u00B7]*[\w\-\u00B7])?)
    | (?P<variable>[?$]\w+)
    | (?P<language>@[a-zA-Z]+(?:-[a-zA-Z0-9]+)*)
    | (?P<name>(?:[^\W\d_](?:[\w.\-\u00B7]*[\w\-\u00B7])?)?:
        (?:(?:[\w:]|ESCAPED)(?:(?:[\w.:\-\u00B7]|ESCAPED)*(?:[\w:\-\u00B7]|ESCAPED))?)?)
    | (?P<number>[+-]?(?:\d+\.?\d*[eE][+-]?\d+|\.\d+[eE][+-]?\d+|\d*\.\d+|\d+))
    | (?P<word>[^\W\d]\w*)
    | (?P<space>\s+)
    | (?P<other>\^\^|.)
    """.replace("ESCAPED", _ESCAPED),
    re.VERBOSE | re.DOTALL,
)
_COMPARABLE = re.compile(r"[?$&|!=(]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|.)", re.DOTALL)
_STRING = re.compile(r"(?:[^\\]|\\[tbnrf\\\"'])*", re.DOTALL)
_STRING_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CHARACTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", "\\": "\\", '"': '"', "'": "'"}
_KEPT_ESCAPES = {'"': '\\"', "'": "\\'", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class Token:
    """``kind`` is a group of the grammar above; ``start`` is its offset."""

    kind: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """Text for the parser.

    Attributes:
        text: with what is named above replaced.
        numbers: numbers as they were written, with the sign that is next to them.
        strings: what strings say, without escapes.
        names: IRIs, prefixed names or ``a`` that have another IRI in their place, as they were written.
        labels: of the blank nodes that the text names.
        places: offsets of the text, ascending, each with that which it has in the original, and whether what begins there was replaced.
        has_service: whether SERVICE is a word of it, at which the parser can run forever.
    """

    text: str
    numbers: tuple[str, ...]
    strings: tuple[str, ...]
    names: tuple[str, ...]
    labels: frozenset[str]
    places: tuple[tuple[int, int, bool], ...]
    has_service: bool = False

    def original(self, offset: int) -> int:
        """Return where an offset of the text is in the original."""
        found = self.places[bisect_right(self.places, offset, key=lambda place: place[0]) - 1]
        return found[1] if found[2] else found[1] + offset - found[0]


def unescaped(text: str) -> str:
    r"""Return text without codepoint escapes (section 19.2); those that would end a string become escapes of strings.

    Raises:
        ProgrammingError: an escape of what is no character.
    """
    if "\\u" not in text and "\\U" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        if (digits := match[1] or match[2]) is None:
            return match[0]
        point = int(digits, 16)
        if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            raise ProgrammingError(f"{match[0]} is no character: codepoints are 0 to D7FF and E000 to 10FFFF")
        return _KEPT_ESCAPES.get(chr(point), chr(point))

    return _ESCAPE.sub(character, text)


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of text, comments and spaces too; together they are the text."""
    for match in _TOKEN.finditer(text):
        yield Token(match.lastgroup or "other", match[0], match.start())


def variable_names(text: str) -> frozenset[str]:
    """Return the names of all variables of text."""
    return frozenset(token.text[1:] for token in tokens(unescaped(text)) if token.kind == "variable")


def with_data(text: str, terms: Mapping[str, Term]) -> str:
    """Return updates with terms in the places of variables in INSERT DATA and DELETE DATA, where there are no others."""
    return ";".join(_with_terms(each, terms) if _is_data(each) else each for _, each in operations(unescaped(text)))


def _is_data(operation: str) -> bool:
    words = [token.text.upper() for token in tokens(operation) if token.kind == "word" or token.text == "{"]
    begin = next((place for place, word in enumerate(words) if word in ("INSERT", "DELETE")), None)
    return begin is not None and words[begin + 1 : begin + 3] == ["DATA", "{"]


def _with_terms(operation: str, terms: Mapping[str, Term]) -> str:
    given = {f"{mark}{name}": n_triples(term) for name, term in terms.items() for mark in "?$"}
    return "".join(given.get(token.text, token.text) if token.kind == "variable" else token.text for token in tokens(operation))


def is_update(text: str) -> bool:
    """Return whether text is an update: whether the first word behind the prologue begins one."""
    in_prologue = False
    for token in tokens(unescaped(text)):
        word = token.text.upper()
        if token.kind in ("comment", "space"):
            continue
        if token.kind == "word" and word in ("BASE", "PREFIX"):
            in_prologue = True
        elif token.kind == "iri" and in_prologue:
            in_prologue = False
        elif not (token.kind == "name" and in_prologue):
            return token.kind == "word" and word in UPDATES
    return False


def operations(text: str) -> tuple[tuple[int, str], ...]:
    """Return the operations of an update request, each with its offset: the text between semicolons that no bracket is around."""
    ends, depth = [], 0
    for token in tokens(text):
        if token.kind == "other" and token.text in "{([":
            depth += 1
        elif token.kind == "other" and token.text in "})]":
            depth -= 1
        elif token.text == ";" and not depth:
            ends.append(token.start)
    starts = [0, *(end + 1 for end in ends)]
    return tuple((start, text[start:end]) for start, end in zip(starts, [*ends, len(text)], strict=True))


def prepared(text: str) -> Prepared:
    """Return text without codepoint escapes as the parser is to see it."""
    return _Preparation().over(text)


class _Preparation:
    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._length = 0
        self._numbers: list[str] = []
        self._names: list[str] = []
        self._strings: list[str] = []
        self._labels: set[str] = set()
        self._places: list[tuple[int, int, bool]] = [(0, 0, False)]
        self._has_service = False
        # What a negated set may be in: behind its exclamation mark, within its brackets, behind a ^ of it.
        self._negated = ""

    def over(self, text: str) -> Prepared:
        found = list(tokens(text))
        for token, following in zip_longest(found, found[1:]):
            piece = self._piece(token)
            if token.kind == "space" and following is not None and following.kind == "other" and following.text in "*+?":
                # The mark of a path may stand apart, but not for this parser; operators may stand close to what is before them.
                piece = ""
            if len(piece) != len(token.text):
                end = self._length + len(piece), token.start + len(token.text)
                self._places += [(self._length, token.start, True), (*end, False)]
            self._pieces.append(piece)
            self._length += len(piece)
        places = tuple({place[0]: place for place in self._places}.values())
        text = "".join(self._pieces)
        return Prepared(
            text, tuple(self._numbers), tuple(self._strings), tuple(self._names), frozenset(self._labels), places, self._has_service
        )

    def _piece(self, token: Token) -> str:
        if token.kind == "comment":
            return " "
        if token.kind == "space":
            return token.text.replace("\t", " ")
        was, self._negated = self._negated, self._next(token)
        if was.endswith("^") and (token.kind in ("iri", "name") or token.text == "a"):
            return self._named(INVERSE, token.text)
        match token.kind:
            case "iri" if _COMPARABLE.search(token.text):
                return self._named(WRITTEN, token.text)
            case "word" if token.text.upper() == "SERVICE":
                self._has_service = True
            case "number":
                self._numbers.append(token.text)
                return f"{token.text[0].strip('.0123456789')}{FIRST_NUMBER + len(self._numbers) - 1}"
            case "string" if (body := said(token.text)) is not None:
                self._strings.append(body)
                return f'"{len(self._strings) - 1}"'
            case "blank":
                self._labels.add(token.text[2:])
            case "other" if token.text == "^" and self._negated:
                return " "
        return token.text

    def _named(self, scheme: str, text: str) -> str:
        self._names.append(text)
        return f"<{scheme}{len(self._names) - 1}>"

    def _next(self, token: Token) -> str:
        """Return the state behind a token: ``!``, ``!^``, ``(``, ``(^``, or empty where no negated set can be."""
        steps: Mapping[tuple[str, str], str] = {("!", "("): "(", ("!", "^"): "!^", ("(", "^"): "(^", ("(", "|"): "("}
        if token.text == "!":
            return "!"
        if self._negated[:1] == "(" and (token.kind in ("iri", "name") or token.text == "a"):
            return "("
        return steps.get((self._negated, token.text), "")


def said(text: str) -> str | None:
    """Return what a string says, without its quotation marks and escapes; None where it has escapes that there are not."""
    marks = 3 if text[:3] in ('"""', "'''") and len(text) >= 6 else 1
    body = text[marks:-marks]
    if "\\" not in body:
        return body
    return _STRING_ESCAPE.sub(lambda match: _CHARACTERS[match[1]], body) if _STRING.fullmatch(body) else None
