"""Names of a query: prefixes, the base, and what leaves of the parse tree stand for (sections 4.1 and 19 of SPARQL 1.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from imp_driver.errors import ProgrammingError
from imp_driver.sparql.reading.tree import Iri, Number, Prefixed, Text, Tree
from imp_driver.sparql.terms import STRING, XSD, Term, iri, literal

Constant: TypeAlias = Iri | Prefixed | Text | Number

_WELL_KNOWN = {
    "dc": "http://purl.org/dc/elements/1.1/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": XSD,
}
"""IRIs that an error proposes for prefixes that nothing declares."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_LOCAL_ESCAPE = re.compile(r"\\([_~.\-!$&'()*+,;=/?#@%])")


def is_absolute(reference: str) -> bool:
    """Return whether an IRI has a scheme."""
    return _SCHEME.match(reference) is not None


@dataclass(frozen=True, slots=True)
class Names:
    """``base`` is None where the text has none: relative IRIs then stay as they are."""

    prefixes: Mapping[str, str] = field(default_factory=dict)
    base: str | None = None

    def behind(self, prologue: Sequence[Tree]) -> Names:
        """Return the names that hold behind a prologue, each declaration read with those before it."""
        names = self
        for declaration in prologue:
            text = names.resolved(declaration.one("iri").text)
            if declaration.rule == "Base":
                names = Names(names.prefixes, text)
            else:
                names = Names({**names.prefixes, declaration.one("prefix") or "": text}, names.base)
        return names

    def resolved(self, reference: str) -> str:
        """Return an IRI, resolved against the base where it has no scheme and there is a base."""
        return reference if self.base is None or is_absolute(reference) else resolved(self.base, reference)

    def iri(self, leaf: Iri | Prefixed) -> str:
        """Return the IRI of a leaf, without brackets.

        Raises:
            ProgrammingError: nothing declares the prefix.
        """
        if isinstance(leaf, Iri):
            return self.resolved(leaf.text)
        if leaf.prefix not in self.prefixes:
            known = _WELL_KNOWN.get(leaf.prefix, "..")
            raise ProgrammingError(f"the prefix {leaf.prefix}: is not declared: begin with PREFIX {leaf.prefix}: <{known}>")
        return self.prefixes[leaf.prefix] + _LOCAL_ESCAPE.sub(r"\1", leaf.local)

    def graph(self, leaf: Iri | Prefixed) -> str:
        """Return the name of a graph: a relative IRI as it was written, as the name of a table, whatever the base is."""
        return leaf.text if isinstance(leaf, Iri) else self.iri(leaf)

    def term(self, leaf: Constant, *, has_sign: bool = True) -> Term:
        """Return the term that a leaf stands for; without its sign where an expression took this for an operator."""
        match leaf:
            case Iri() | Prefixed():
                return iri(self.iri(leaf))
            case Text(lexical, language, datatype):
                return literal(lexical, STRING if datatype is None else self.iri(datatype), language)
            case Number(sign, digits):
                kind = "double" if "e" in digits.lower() else "decimal" if "." in digits else "integer"
                return literal(f"{sign if has_sign else ''}{digits}", f"{XSD}{kind}")


def resolved(base: str, reference: str) -> str:
    """Return a relative reference as an IRI (RFC 3986, section 5.2.2)."""
    scheme, authority, path, query, _ = _parts(base)
    _, own_authority, own_path, own_query, fragment = _parts(reference)
    if own_authority is not None:
        authority, path, query = own_authority, _without_dots(own_path or ""), own_query
    elif own_path:
        merged = own_path if own_path[0] == "/" else _merged(authority, path or "", own_path)
        path, query = _without_dots(merged), own_query
    elif own_query is not None:
        query = own_query
    pieces = (f"{scheme}:" if scheme is not None else "", f"//{authority}" if authority is not None else "", path or "")
    return "".join((*pieces, "" if query is None else f"?{query}", "" if fragment is None else f"#{fragment}"))


def _parts(reference: str) -> tuple[str | None, ...]:
    match = _PARTS.fullmatch(reference)
    return match.groups() if match else (None, None, reference, None, None)


def _merged(authority: str | None, path: str, reference: str) -> str:
    return f"/{reference}" if authority is not None and not path else path[: path.rfind("/") + 1] + reference


def _without_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")
    for place, segment in enumerate(segments):
        is_last = place == len(segments) - 1
        if segment == "..":
            if len(kept) > 1 or (kept and kept[0]):
                kept.pop()
            kept += [""] if is_last else []
        elif segment == ".":
            kept += [""] if is_last else []
        else:
            kept.append(segment)
    return "/".join(kept)
