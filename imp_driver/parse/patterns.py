"""Texts that differ in constants of conditions and LIMIT alone: they share one parse, with markers in the places of these constants.

An application writes the values of its filters into its queries, so most texts are new where few patterns are. Which tokens are such
constants is not guessed: other ones are put in their places, and the trees that the parser makes of both are compared.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import Generic, TypeVar

from sqlglot import Token, TokenType, exp

from imp_driver.parse.skeleton import skeleton
from imp_driver.values.bounded_cache import BoundedCache

MadeT = TypeVar("MadeT")

MOST_PATTERNS = 1_000
_MOST_ALIKE = 8
"""Patterns of one sequence of tokens, which differ in constants that are none of conditions."""
_PREFIX = "imp_constant_"
_READ_OTHERWISE = re.compile(r"[\\$]")
"""What may have Spark read a text otherwise than the parser (plan/check.py)."""
_CONSTANTS = (TokenType.NUMBER, TokenType.STRING)
_BEGINS = (TokenType.WHERE, TokenType.HAVING)
_ENDS = (TokenType.SELECT, TokenType.GROUP_BY, TokenType.ORDER_BY)
"""What a condition does not go beyond: of other constants, such as the unit of date_trunc, some make another tree."""
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.Between, exp.In)
_ABOVE = (exp.And, exp.Or, exp.Not, exp.Paren)
"""What may stand between a comparison and its WHERE or HAVING."""


class _Kind(Enum):
    """What a constant is, by its token and the one before; ``texts`` are those whose meaning is certain."""

    COUNT = re.compile(r"\d{1,9}")
    NUMBER = re.compile(r"\d{1,18}(\.\d{1,18})?")
    TEXT = re.compile(r".*", re.DOTALL)
    DATE = re.compile(r"\d{4}-\d\d-\d\d")
    TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?)?")

    def has(self, text: str) -> bool:
        if self.value.fullmatch(text) is None:
            return False
        try:
            if self is _Kind.DATE:
                date.fromisoformat(text)
            elif self is _Kind.TIMESTAMP:
                datetime.fromisoformat(text)
        except ValueError:
            return False
        return True

    @property
    def is_number(self) -> bool:
        return self in (_Kind.COUNT, _Kind.NUMBER)

    def other(self, number: int) -> str:
        """Return a constant of this kind that no text has."""
        match self:
            case _Kind.COUNT | _Kind.NUMBER:
                return f"{731_000_000 + number}"
            case _Kind.TEXT:
                return f"imp~{number}~constant"
            case _:
                return f"{9000 + number}-01-01"


@dataclass(frozen=True, slots=True, eq=False)
class Pattern(Generic[MadeT]):
    """``made`` is what was made of the tree with markers; ``places`` are the tokens that have values, ``fixed`` the other constants."""

    made: MadeT
    places: tuple[tuple[int, _Kind], ...]
    fixed: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Framed(Generic[MadeT]):
    """A pattern by the constants of a skeleton: those that have values, with their places and kinds, and the fixed ones."""

    pattern: Pattern[MadeT]
    valued: tuple[tuple[int, int, _Kind], ...]
    fixed: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Instance(Generic[MadeT]):
    """One text of a pattern: the values of the markers that its constants are."""

    pattern: Pattern[MadeT]
    values: Mapping[str, exp.Literal]


class Patterns(Generic[MadeT]):
    """The patterns of a process; one is made when a second text is like an earlier one. Safe to use from several threads."""

    def __init__(self, read: Callable[[str], exp.Expr | None], make: Callable[[str, exp.Expr], MadeT]) -> None:
        """``read`` is the parser; ``make`` is given one of the texts, and its tree with markers."""
        self._read = read
        self._make = make
        self._known: BoundedCache[bytes, tuple[Pattern[MadeT], ...]] = BoundedCache(MOST_PATTERNS)
        self._framed: BoundedCache[str, _Framed[MadeT]] = BoundedCache(MOST_PATTERNS)

    def at_a_look(self, text: str) -> Instance[MadeT] | None:
        """Return ``find`` of a text whose tokens are those of another one that was found; None where that is not certain."""
        found = skeleton(text)
        framed = None if found is None else self._framed.get(found.frame)
        if found is None or framed is None or any(found.constants[each] != fixed for each, fixed in framed.fixed):
            return None
        return _instance(framed.pattern, ((place, kind, found.constants[each]) for each, place, kind in framed.valued))

    def find(self, text: str, tokens: Sequence[Token]) -> Instance[MadeT] | None:
        """Return a text as one of a known pattern; None where it is none."""
        known = None if _READ_OTHERWISE.search(text) else self._known.get(_sequence(tokens))
        for pattern in known or ():
            if all(tokens[place].text == fixed for place, fixed in pattern.fixed):
                self._frame(text, tokens, pattern)
                return _instance(pattern, ((place, kind, tokens[place].text) for place, kind in pattern.places))
        return None

    def _frame(self, text: str, tokens: Sequence[Token], pattern: Pattern[MadeT]) -> None:
        """Have texts of the same skeleton found without reading their tokens, where its constants are tokens and all that may differ."""
        found = skeleton(text)
        if found is None:
            return
        numbers = {span: number for number, span in enumerate(found.spans)}
        places = {place: number for place, token in enumerate(tokens) if (number := numbers.get((token.start, token.end + 1))) is not None}
        kinds = dict(pattern.places)
        fixed = dict(pattern.fixed)
        if kinds.keys() <= places.keys() <= kinds.keys() | fixed.keys() and len(places) == len(numbers):
            self._framed[found.frame] = _Framed(
                pattern,
                tuple((places[place], place, kind) for place, kind in kinds.items()),
                tuple((places[place], text) for place, text in fixed.items() if place in places),
            )

    def learn(self, text: str, tokens: Sequence[Token], tree: exp.Expr) -> None:
        """Take notice of a text that is none of a known pattern."""
        is_read_alike = not _READ_OTHERWISE.search(text) and _PREFIX not in text and tree.find(exp.Version) is None
        if not is_read_alike or not any(token.token_type in _CONSTANTS for token in tokens):
            return
        sequence = _sequence(tokens)
        known = self._known.get(sequence)
        if known is None:
            self._known[sequence] = ()
        elif len(known) < _MOST_ALIKE:
            found = self._pattern(text, tokens, tree)
            if found is not None:
                self._known[sequence] = (*known, found)

    def _pattern(self, text: str, tokens: Sequence[Token], tree: exp.Expr) -> Pattern[MadeT] | None:
        kinds = dict(_kinds(tokens))
        other = self._read(_with_others(text, tokens, kinds))
        found = None if other is None else _differences(tree, other, {kind.other(place): place for place, kind in kinds.items()})
        if not found:
            return None
        copy = tree.copy()
        nodes = [(place, node) for place, path in sorted(found.items()) if is_value(node := _at(copy, path))]
        for place, node in nodes:
            node.replace(exp.Placeholder(this=_name(place, kinds[place])))
        places = tuple((place, kinds[place]) for place, _ in nodes)
        named = {place for place, _ in places}
        fixed = tuple((place, token.text) for place, token in enumerate(tokens) if token.token_type in _CONSTANTS and place not in named)
        return Pattern(self._make(text, copy), places, fixed) if places else None


def _sequence(tokens: Sequence[Token]) -> bytes:
    """Return a digest of the tokens without the constants."""
    parts = "\x1f".join(f"{token.token_type.name}\x1e{'' if token.token_type in _CONSTANTS else token.text}" for token in tokens)
    return hashlib.blake2s(parts.encode()).digest()


def _instance(pattern: Pattern[MadeT], constants: Iterable[tuple[int, _Kind, str]]) -> Instance[MadeT] | None:
    values: dict[str, exp.Literal] = {}
    for place, kind, text in constants:
        if not kind.has(text):
            return None
        values[_name(place, kind)] = exp.Literal(this=text, is_string=not kind.is_number)
    return Instance(pattern, values)


def _name(place: int, kind: _Kind) -> str:
    return f"{_PREFIX}{place}_{'number' if kind.is_number else 'text'}"


def kind_of(node: exp.Expr) -> str:
    """Say of a constant whether it is a number or a text, of a marker that stands for one too; empty for what is not certain."""
    if isinstance(node, exp.Placeholder):
        return str(node.this).rpartition("_")[2] if str(node.this).startswith(_PREFIX) else ""
    if not isinstance(node, exp.Literal):
        return ""
    return "text" if node.is_string else "number" if _Kind.NUMBER.has(str(node.this)) else ""


def _kinds(tokens: Sequence[Token]) -> Iterator[tuple[int, _Kind]]:
    """Yield the constants of each WHERE and HAVING, and the numbers of LIMIT and OFFSET."""
    # Whether a condition is being read, within each bracket that is open.
    within = [False]
    for place, token in enumerate(tokens):
        if token.token_type in _BEGINS:
            within[-1] = True
        elif token.token_type in _ENDS:
            within[-1] = False
        elif token.token_type is TokenType.L_PAREN:
            within.append(within[-1])
        elif token.token_type is TokenType.R_PAREN and len(within) > 1:
            within.pop()
        if token.token_type not in _CONSTANTS:
            continue
        kind = _kind(token, tokens[place - 1].text.upper())
        if (within[-1] or kind is _Kind.COUNT) and kind.has(token.text):
            yield place, kind


def _kind(token: Token, before: str) -> _Kind:
    if token.token_type is TokenType.NUMBER:
        return _Kind.COUNT if before in ("LIMIT", "OFFSET") else _Kind.NUMBER
    return {"DATE": _Kind.DATE, "TIMESTAMP": _Kind.TIMESTAMP}.get(before, _Kind.TEXT)


def _with_others(text: str, tokens: Sequence[Token], kinds: Mapping[int, _Kind]) -> str:
    """Return the text with other constants."""
    pieces: list[str] = []
    end = 0
    for place, kind in kinds.items():
        other = kind.other(place)
        pieces += [text[end : tokens[place].start], other if kind.is_number else f"'{other}'"]
        end = tokens[place].end + 1
    return "".join([*pieces, text[end:]])


_Path = tuple[tuple[str, int | None], ...]


def _differences(one: exp.Expr, other: exp.Expr, places: Mapping[str, int]) -> dict[int, _Path] | None:
    """Return where two trees have the constants that were put in; None where they differ otherwise.

    A literal of the other tree that is one of ``places`` stands where the token of that place does.
    """
    found: dict[int, _Path] = {}

    def compare(left: object, right: object, path: _Path) -> bool:
        if isinstance(left, exp.Literal) and isinstance(right, exp.Literal) and left.is_string == right.is_string:
            place = places.get(str(right.this))
            if place is None:
                return bool(left.this == right.this)
            return found.setdefault(place, path) is path
        if isinstance(left, exp.Expr) and isinstance(right, exp.Expr):
            names = left.args.keys() | right.args.keys()
            return type(left) is type(right) and all(
                compare(left.args.get(name), right.args.get(name), (*path, (name, None))) for name in names
            )
        if isinstance(left, list) and isinstance(right, list):
            *above, (name, _) = path
            return len(left) == len(right) and all(
                compare(one, two, (*above, (name, number))) for number, (one, two) in enumerate(zip(left, right, strict=True))
            )
        return bool(left == right)

    return found if compare(one, other, ()) else None


def _at(tree: exp.Expr, path: _Path) -> exp.Expr:
    node = tree
    for name, number in path:
        found = node.args[name]
        node = found if number is None else found[number]
    return node


def is_value(node: exp.Expr) -> bool:
    """Say whether a constant is compared by a condition of WHERE or HAVING, and nothing is computed of it, or is the number of a LIMIT."""
    parent = node.parent
    if isinstance(parent, (exp.Limit, exp.Offset)):
        return isinstance(parent.parent, exp.Query)
    while isinstance(parent, (exp.Neg, exp.Paren, exp.Cast)):
        parent = parent.parent
    if not isinstance(parent, _COMPARISONS):
        return False
    parent = parent.parent
    while isinstance(parent, _ABOVE):
        parent = parent.parent
    return isinstance(parent, (exp.Where, exp.Having)) and isinstance(parent.parent, exp.Select)
