"""Expressions as texts of SPARQL, and what two other implementations make of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import pyoxigraph
import rdflib

from imp_driver.sparql.algebra import Call, Constant, Expression
from imp_driver.sparql.terms import Term, blank, datatype, iri, language, lexical, literal

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_INFIX = frozenset({"=", "!=", "<", ">", "<=", ">=", "&&", "||", "+", "-", "*", "/"})


def written(term: Term) -> str:
    """Return a term as SPARQL has it."""
    if term[0] == "<":
        return term
    text = '"' + "".join(_ESCAPES.get(each, each) for each in lexical(term)) + '"'
    return f"{text}@{language(term)}" if language(term) else f"{text}^^<{datatype(term)}>"


def spelled(expression: Expression) -> str:
    """Return an expression of constants as SPARQL has it."""
    match expression:
        case Constant(term):
            return written(term)
        case Call(name, (one, other)) if name in _INFIX:
            return f"({spelled(one)} {name} {spelled(other)})"
        case Call("!" | "NEGATE" as name, (inner,)):
            return f"({'!' if name == '!' else '-'} {spelled(inner)})"
        case Call("IN" | "NOT IN" as name, (sought, *others)):
            return f"({spelled(sought)} {name} ({', '.join(map(spelled, others))}))"
        case Call(name, arguments):
            return f"{name}({', '.join(map(spelled, arguments))})"
        case _:
            raise TypeError(expression)


def by_pyoxigraph(expressions: Sequence[Expression]) -> list[Term | None]:
    columns = " ".join(f"({spelled(each)} AS ?r{place})" for place, each in enumerate(expressions))
    found = pyoxigraph.Store().query(f"SELECT {columns} WHERE {{}}")
    assert isinstance(found, pyoxigraph.QuerySolutions)
    return [_of_pyoxigraph(each) for each in next(iter(found))]


def _of_pyoxigraph(found: object) -> Term | None:
    match found:
        case pyoxigraph.NamedNode():
            return iri(found.value)
        case pyoxigraph.BlankNode():
            return blank(found.value)
        case pyoxigraph.Literal():
            return literal(found.value, found.datatype.value, found.language)
        case _:
            return None


def by_rdflib(expressions: Sequence[Expression]) -> list[Term | None]:
    columns = " ".join(f"({spelled(each)} AS ?r{place})" for place, each in enumerate(expressions))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows: list[Any] = list(rdflib.Graph().query(f"SELECT {columns} WHERE {{}}"))
    # A solution that binds nothing is none to rdflib.
    return [_of_rdflib(each) for each in tuple(*rows)] if rows else [None] * len(expressions)


def _of_rdflib(found: object) -> Term | None:
    match found:
        case rdflib.Literal():
            return literal(str(found), str(found.datatype or "http://www.w3.org/2001/XMLSchema#string"), found.language)
        case rdflib.BNode():
            return blank(str(found))
        case rdflib.URIRef():
            return iri(str(found))
        case _:
            return None
