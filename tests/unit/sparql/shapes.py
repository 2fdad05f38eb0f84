"""Short ways to write what queries should become."""

from __future__ import annotations

from imp_driver.sparql.algebra import Bgp, Call, Constant, Expression, Pattern, Place, Read, Source, Triple, Variable
from imp_driver.sparql.read import read_query
from imp_driver.sparql.terms import XSD, Term, iri, literal

G = (Source("g"),)
EX = "http://example.org/"
PREFIXES = f"PREFIX : <{EX}> PREFIX xsd: <{XSD}>\n"


def node(text: str) -> Variable | Term:
    """``?x`` and ``?_:x`` are variables, ``:x`` an IRI, all else a term as it stands."""
    if text[0] == "?":
        return Variable(text[1:])
    return ex(text[1:]) if text[0] == ":" else text


def ex(local: str) -> Term:
    return iri(EX + local)


def var(name: str) -> Variable:
    return Variable(name)


def names(text: str) -> tuple[Variable, ...]:
    return tuple(Variable(name) for name in text.split())


def triple(text: str) -> Triple:
    subject, predicate, object_ = text.split(" ", 2)
    return Triple(node(subject), node(predicate), node(object_))


def bgp(*triples: str, place: Place = G) -> Bgp:
    return Bgp(tuple(triple(text) for text in triples), place)


EMPTY = Bgp((), ())
"""What a group begins with."""


def call(name: str, *arguments: Expression | str) -> Call:
    return Call(name, tuple(value(argument) if isinstance(argument, str) else argument for argument in arguments))


def value(text: str) -> Expression:
    found = node(text)
    return Read(found) if isinstance(found, Variable) else Constant(found)


def integer(number: int | str) -> Term:
    return literal(str(number), f"{XSD}integer")


def where(text: str) -> Pattern:
    """Return the pattern of a group, without the projection around it."""
    return read_query(f"{PREFIXES}ASK {text}", G).pattern


def selected(text: str) -> Pattern:
    """Return the pattern of what follows the word SELECT."""
    return read_query(f"{PREFIXES}SELECT {text}", G).pattern
