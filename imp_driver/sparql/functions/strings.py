"""Functions on strings (section 17.4.3): arguments and results are terms, None is an error.

A string literal is a text with or without a language. Of two arguments the languages must be compatible (17.4.3.1.2), and a result has the
language of the first (17.4.3.1.3).
"""

from __future__ import annotations

import math
from urllib.parse import quote

from imp_driver.sparql.functions.arithmetic import nearest
from imp_driver.sparql.functions.numerals import Number, as_double
from imp_driver.sparql.functions.values import number, term_of
from imp_driver.sparql.terms import Term, literal


def parts(term: Term) -> tuple[str, str] | None:
    """Return the text of a string literal, and its ``@language`` or nothing; None of other terms."""
    if term[0] != '"':
        return None
    end = term.rindex('"')
    tag = term[end + 1 :]
    return None if tag and tag[0] != "@" else (term[1:end], tag)


def plain(term: Term) -> str | None:
    """Return the text of a string without a language; None of other terms."""
    return term[1:-1] if term[0] == '"' and term[-1] == '"' else None


def compatible(one: Term, other: Term) -> tuple[str, str, str] | None:
    """Return both texts and the tag of the first, None where they are no string literals or not compatible."""
    first, second = parts(one), parts(other)
    if first is None or second is None or second[1] not in ("", first[1]):
        return None
    return first[0], second[0], first[1]


def string_length(term: Term) -> Term | None:
    found = parts(term)
    return None if found is None else term_of(len(found[0]))


def substring(term: Term, start: Term, length: Term | None = None) -> Term | None:
    """SUBSTR: from the rounded 1-based ``start`` (XPath functions 2.0, section 7.4.3)."""
    found, first = parts(term), number(start)
    most = None if length is None else number(length)
    if found is None or first is None or (length is not None and most is None):
        return None
    text, tag = found
    begin = _rounded(first)
    end = math.inf if most is None else begin + _rounded(most)
    # Comparisons with NaN, which there is of infinities too, are false: no character is in.
    if not (begin < end and begin <= len(text)):
        return f'""{tag}'
    return f'"{text[max(int(max(begin, 1.0)) - 1, 0) : len(text) if end > len(text) else max(int(end) - 1, 0)]}"{tag}'


def _rounded(found: Number) -> float:
    return float(nearest(as_double(found)))


def upper(term: Term) -> Term | None:
    found = parts(term)
    return None if found is None else f'"{found[0].upper()}"{found[1]}'


def lower(term: Term) -> Term | None:
    found = parts(term)
    return None if found is None else f'"{found[0].lower()}"{found[1]}'


def starts(one: Term, other: Term) -> bool | None:
    found = compatible(one, other)
    return None if found is None else found[0].startswith(found[1])


def ends(one: Term, other: Term) -> bool | None:
    found = compatible(one, other)
    return None if found is None else found[0].endswith(found[1])


def contains(one: Term, other: Term) -> bool | None:
    found = compatible(one, other)
    return None if found is None else found[1] in found[0]


def before(one: Term, other: Term) -> Term | None:
    """STRBEFORE: the text before the first occurrence; without any a text that has no language."""
    found = compatible(one, other)
    if found is None:
        return None
    text, sought, tag = found
    place = text.find(sought)
    return '""' if place < 0 else f'"{text[:place]}"{tag}'


def after(one: Term, other: Term) -> Term | None:
    """STRAFTER: the text after the first occurrence; without any a text that has no language."""
    found = compatible(one, other)
    if found is None:
        return None
    text, sought, tag = found
    place = text.find(sought)
    return '""' if place < 0 else f'"{text[place + len(sought) :]}"{tag}'


def encoded_for_uri(term: Term) -> Term | None:
    found = parts(term)
    return None if found is None else literal(quote(found[0], safe=""))


def concatenated(*terms: Term) -> Term | None:
    """CONCAT: of the language that all have."""
    found = [each for each in map(parts, terms) if each is not None]
    if len(found) < len(terms):
        return None
    tags = {tag for _, tag in found}
    return f'"{"".join(text for text, _ in found)}"{tags.pop() if len(tags) == 1 else ""}'


def language_matches(tag: Term, pattern: Term) -> bool | None:
    """LANGMATCHES: basic filtering of RFC 4647, section 3.3.1."""
    text, wanted = plain(tag), plain(pattern)
    if text is None or wanted is None:
        return None
    if wanted == "*":
        return text != ""
    text, wanted = text.lower(), wanted.lower()
    return text == wanted or (wanted != "" and text.startswith(f"{wanted}-"))
