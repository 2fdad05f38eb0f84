"""Values of an application as terms."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from imp_driver.errors import NotSupportedError
from imp_driver.sparql.functions import values
from imp_driver.sparql.terms import XSD, Term, iri, literal


class Iri(str):
    """An IRI among parameters, where any other text is a literal."""

    __slots__ = ()


def term_of(value: object) -> Term:
    """Return the term of a value that Python or a result has. Raises NotSupportedError for a value of another type."""
    match value:
        case Iri():
            return iri(value)
        case bool() | int() | Decimal() | float() | str():
            return values.term_of(value)
        case datetime():
            return literal(value.isoformat().replace("+00:00", "Z"), f"{XSD}dateTime")
        case date():
            return literal(value.isoformat(), f"{XSD}date")
    raise NotSupportedError(
        f"A value of type {type(value).__name__} is no term of RDF; give text, a number, a truth value, a date or a time."
    )
