"""REGEX and REPLACE: the syntax of XPath, which is not that of Python."""

from __future__ import annotations

import pytest

from imp_driver.errors import NotSupportedError
from imp_driver.sparql.terms import literal
from tests.unit.sparql.functions.evaluating import of_terms, outcome

MATCHES = [
    ("Alice", "^ali", "", False),
    ("Alice", "^ali", "i", True),
    ("abracadabra", "bra", "", True),
    ("abracadabra", "^bra", "", False),
    ("a\nb", "a.b", "", False),
    ("a\nb", "a.b", "s", True),
    ("a\nb", "^b$", "", False),
    ("a\nb", "^b$", "m", True),
    ("a\n", "a$", "", False),
    ("a\n", "a$", "m", True),
    ("a\n", "\\n^", "m", False),
    ("helloworld", "hello[ ]world", "x", False),
    ("helloworld", " hello world ", "x", True),
    ("hello world", "hello[ ]world", "x", True),
    ("a.b", "a.b", "q", True),
    ("axb", "a.b", "q", False),
    ("A.B", "a.b", "qi", True),
    ("_", "^\\w$", "", False),
    ("$", "^\\w$", "", True),
    ("é1", "^\\w+$", "", True),
    ("é1", "^\\W+$", "", False),
    ("٣", "\\d", "", True),
    ("x", "^[\\D]$", "", True),
    ("\u00a0", "\\s", "", False),
    ("\u00a0", "^\\S$", "", True),
    ("b", "^[a-z-[aeiou]]$", "", True),
    ("e", "^[a-z-[aeiou]]$", "", False),
    ("e", "^[^x-[e]]$", "", False),
    ("Éa", "^\\p{Lu}\\P{Lu}$", "", True),
    ("Éa", "^[\\p{L}]+$", "", True),
    ("x:y", "^\\i\\c*$", "", True),
    ("1x", "^\\i\\c*$", "", False),
    ("1x", "^\\C+$|^\\I", "", True),
    ("a-b", "^[a\\-]+b$", "", True),
    ("a-b", "^[a-]+b$", "", True),
    ("[[||", "^[\\[|]+$", "", True),
    ("aa", "^(a)\\1$", "", True),
    ("ab", "^(a)\\1$", "", False),
    ("b", "^(a)?\\1b$", "", True),
    ("aaa", "^a{2,3}?$", "", True),
    ("ab", "^(?:a)b$", "", True),
    ("", "", "", True),
]


@pytest.mark.parametrize(("text", "pattern", "flags", "expected"), MATCHES)
def test_matches(text: str, pattern: str, flags: str, expected: bool) -> None:
    assert of_terms("REGEX", literal(text), literal(pattern), literal(flags)) == outcome(str(expected).lower())


BAD = ["(", ")", "a)", "[", "[]", "[z-a]", "[a", "a**", "a*+", "{2}", "a{,2}", "a{2,1}", "}", "]", "\\b", "\\A", "\\x41", "a\\", "(?i)a"]
BAD += ["(?=a)", "(?P<x>a)", "\\1", "(a\\1)", "\\p{Xx}", "\\p{Foo}", "\\p", "[a[b]]", "*", "[\\d-z-\\d]x["]


@pytest.mark.parametrize("pattern", BAD)
def test_what_is_no_regular_expression_is_an_error(pattern: str) -> None:
    assert of_terms("REGEX", '"a"', literal(pattern)) is None


def test_errors_of_arguments() -> None:
    assert of_terms("REGEX", '"a"@en', '"a"') == outcome("true")
    assert of_terms("REGEX", '"a"', '"a"@en') is None
    assert of_terms("REGEX", '"a"', '"a"', '"g"') is None
    assert of_terms("REGEX", "<a>", '"a"') is None
    assert of_terms("REGEX", '"1"^^integer', '"1"') is None


def test_blocks_of_unicode_are_not_supported() -> None:
    with pytest.raises(NotSupportedError, match="IsGreek"):
        of_terms("REGEX", '"a"', '"\\p{IsGreek}"')


REPLACED = [
    ("abcd", "b", "Z", "aZcd"),
    ("abracadabra", "bra", "*", "a*cada*"),
    ("abracadabra", "a.*a", "*", "*"),
    ("abracadabra", "a.*?a", "*", "*c*bra"),
    ("abracadabra", "a(.)", "a$1$1", "abbraccaddabbra"),
    ("AAAA", "A+?", "b", "bbbb"),
    ("darted", "^(.*?)d(.*)$", "$1c$2", "carted"),
    ("abc", "(a)|(b)", "[$2]", "[][b]c"),
    ("abc", "(a)", "$12", "a2bc"),
    ("abc", "b", "$0$0", "abbc"),
    ("abc", "b", "\\$\\\\", "a$\\c"),
    ("abc", "b", "$1", "ac"),
    ("abc", "b", "$", None),
    ("abc", "b", "$a", None),
    ("abc", "b", "\\n", None),
    ("abc", "z*", "x", None),
    ("abc", "^", "x", None),
    ("abc", "(", "x", None),
]


@pytest.mark.parametrize(("text", "pattern", "by", "expected"), REPLACED)
def test_replaced(text: str, pattern: str, by: str, expected: str | None) -> None:
    assert of_terms("REPLACE", literal(text), literal(pattern), literal(by)) == (None if expected is None else literal(expected))


def test_replaced_keeps_the_language_and_takes_flags() -> None:
    assert of_terms("REPLACE", '"aBc"@en', '"b"', '"$0$0"', '"i"') == '"aBBc"@en'
    assert of_terms("REPLACE", '"a.b"', '"."', '"$0"', '"q"') == '"a$0b"'
    assert of_terms("REPLACE", '"a"', '"a"', '"b"@en') is None
