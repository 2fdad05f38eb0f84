"""Texts of one skeleton have the same tokens but for their constants, where these are tokens."""

from __future__ import annotations

import random

import pytest
import sqlglot
from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

from imp_driver.parse.dialect import SparkText
from imp_driver.parse.skeleton import skeleton
from imp_driver.parse.statement import parse
from tests.seeds import SEED, WIDE

_COUNT = 200_000 if WIDE else 5_000
_PIECES = (
    *("SELECT ", "a", "g1", "`b 2'`", "`", "'x'", "'it''s'", "'", "''", '"d"', "1", "22", "3.5", "4.", ".5", "1e3", "7L", "0x1F", "r'z'"),
    *("DATE'2024-01-01'", " ", "\n", ",", "(", ")", "=", "<", "-", "--", "/*", "*/", "?", ":n", "::", "#", ";", "$1", "\\", ".", "@", "é"),
    *(" FROM t", " WHERE ", " LIMIT ", "INTERVAL '3' DAY", "{{", "{%", "x'1F'", "٣", "_", "%", "!", "|", "~", "&", "^", "[", "]"),
)
_CHARACTERS = 'ab 01.,;:?-/*#`"%_(){}é@\n'


def _tokens(text: str) -> list[Token] | None:
    try:
        return list(sqlglot.tokenize(text, read=SparkText))
    except SqlglotError:
        return None


def _other(chance: random.Random, *, is_text: bool) -> str:
    if is_text:
        return "".join(chance.choices(_CHARACTERS, k=chance.randrange(9)))
    return f"{chance.randrange(10**9)}{chance.choice(['', '', f'.{chance.randrange(10**4)}'])}"


def test_other_constants_leave_the_other_tokens() -> None:
    chance, checked = random.Random(SEED), 0
    for _ in range(_COUNT):
        text = "".join(chance.choices((*_PIECES, *_PIECES[:3], "'x'", "1", " ", " ", ","), k=chance.randrange(1, 13)))
        found, tokens = skeleton(text), _tokens(text)
        if found is None or tokens is None:
            continue
        places = {(token.start, token.end + 1): place for place, token in enumerate(tokens)}
        if not found.spans or not all(span in places for span in found.spans):
            continue
        changed, end, constants = [], 0, {}
        for start, stop in found.spans:
            is_text = tokens[places[start, stop]].token_type is TokenType.STRING
            constants[places[start, stop]] = constant = _other(chance, is_text=is_text)
            changed += [text[end:start], f"'{constant}'" if is_text else constant]
            end = stop
        other = "".join([*changed, text[end:]])
        own, others = skeleton(other), _tokens(other)
        assert own is not None, (text, other)
        assert (own.frame, own.constants) == (found.frame, tuple(constants.values())), (text, other)
        assert others is not None, (text, other)
        assert [token.token_type for token in others] == [token.token_type for token in tokens], (text, other)
        assert [token.text for token in others] == [constants.get(place, token.text) for place, token in enumerate(tokens)], (text, other)
        checked += 1
    assert checked > _COUNT / 20


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 -- '",
        "SELECT /* 'a' */ 1",
        'SELECT "it\'s" > 1',
        "SELECT a FROM t WHERE b = ?",
        "SELECT a FROM t WHERE b = :name AND c = 1",
        "SELECT a FROM t WHERE b = '\\'' AND c = 1",
        "SELECT a FROM t WHERE b = '${x}'",
        "SELECT `a",
        "SELECT 'a",
        "SELECT 1; SELECT 2",
    ],
)
def test_what_may_be_read_otherwise_has_none(text: str) -> None:
    assert skeleton(text) is None


@pytest.mark.parametrize(
    ("one", "other"), [("a > 5", "a > '5'"), ("`a` > 1", "`b` > 1"), ("a = 'x' 'y'", "a = 'x y'"), ("a1 > 1", "a2 > 1")]
)
def test_other_texts_have_other_frames(one: str, other: str) -> None:
    frames = [found.frame for each in (one, other) if (found := skeleton(each)) is not None]
    assert len(set(frames)) == 2


def test_a_fixed_constant_is_compared() -> None:
    template = "SELECT s1, {} AS one FROM `r` WHERE `a` > {} AND k = '{}' GROUP BY s1"
    for constants in (("1", "5", "x"), ("1", "6", "y"), ("1", "7", "z"), ("1", "8", "it")):
        statement = parse(template.format(*constants))
    assert statement.instance is not None
    assert parse(template.format("2", "9", "x")).instance is None
    last = parse(template.format("1", "9.25", "x y"))
    assert last.instance is not None
    assert [str(each) for each in last.instance.values.values()] == ["9.25", "'x y'"]
