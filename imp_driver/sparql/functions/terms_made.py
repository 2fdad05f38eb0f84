"""Functions on terms (section 17.4.2): what they are made of, and new ones. None is an error."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Callable
from typing import Final
from urllib.parse import urljoin

from imp_driver.sparql.functions.strings import plain
from imp_driver.sparql.functions.values import number
from imp_driver.sparql.terms import LANGUAGE_TEXT, Term, blank, datatype, iri, language, lexical, literal

_TAG: Final = re.compile(r"[a-zA-Z]+(?:-[a-zA-Z0-9]+)*")


def text(term: Term) -> Term | None:
    """STR: of an IRI or a literal."""
    return None if term[0] == "_" else literal(lexical(term))


def language_of(term: Term) -> Term | None:
    return literal(language(term)) if term[0] == '"' else None


def datatype_of(term: Term) -> Term | None:
    kind = datatype(term)
    return None if kind is None else iri(kind)


def as_iri(term: Term, base: Term | None = None) -> Term | None:
    """IRI: of an IRI or a text. What is relative stays so, unless a parser that knows the base gives it as a second argument."""
    if term[0] == "<":
        return term
    found = plain(term)
    if found is None or any(each in found for each in '<>" {}|\\^`'):
        return None
    return iri(found if base is None else urljoin(lexical(base), found))


def with_datatype(term: Term, kind: Term) -> Term | None:
    """STRDT: of a text and the IRI of a datatype other than that of texts of a language."""
    found = plain(term)
    return None if found is None or kind[0] != "<" or lexical(kind) == LANGUAGE_TEXT else literal(found, lexical(kind))


def with_language(term: Term, tag: Term) -> Term | None:
    """STRLANG: of two texts."""
    found, wanted = plain(term), plain(tag)
    return literal(found, language=wanted) if found is not None and wanted and _TAG.fullmatch(wanted) else None


def is_iri(term: Term) -> bool:
    return term[0] == "<"


def is_blank(term: Term) -> bool:
    return term[0] == "_"


def is_literal(term: Term) -> bool:
    return term[0] == '"'


def is_numeric(term: Term) -> bool:
    """isNumeric: whether it is a literal of a numeric datatype with a valid lexical form."""
    return number(term) is not None


def is_same(one: Term, other: Term) -> bool:
    return one == other


def hashed(name: str) -> Callable[[Term], Term | None]:
    """Return MD5, SHA1 .. as a function of texts: the digest of their UTF-8 in lower-case hexadecimal digits (section 17.4.6)."""

    def digest(term: Term) -> Term | None:
        found = plain(term)
        return None if found is None else literal(hashlib.new(name, found.encode(), usedforsecurity=False).hexdigest())

    return digest


def new_blank() -> Term:
    return blank(f"n{uuid.uuid4().hex}")


def new_uuid() -> Term:
    return iri(f"urn:uuid:{uuid.uuid4()}")


def new_uuid_text() -> Term:
    return literal(str(uuid.uuid4()))
