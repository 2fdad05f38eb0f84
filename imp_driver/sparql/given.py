"""Values of an application as terms."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

from imp_driver.errors import DataError, NotSupportedError, ProgrammingError
from imp_driver.sparql.functions import values
from imp_driver.sparql.reading.tokens import variable_names
from imp_driver.sparql.terms import XSD, Term, iri, literal
from imp_driver.values.execution import Parameters


class Iri(str):
    """An IRI among parameters, where any other text is a literal."""

    __slots__ = ()


def term_of(value: object) -> Term:
    """Return the term of a value that Python or a result has.

    Raises NotSupportedError for a value of another type, DataError for what is no IRI.
    """
    match value:
        case Iri():
            if not value or any(each <= " " or each in '<>"{}|\\^`' for each in value):
                raise DataError(f'{str(value)!r} is no IRI: it is empty, or has spaces or one of <>"{{}}|\\^` (section 19.8).')
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


def bound(parameters: Parameters, text: str) -> Mapping[str, Term]:
    """Return the terms for variables of a text that are given as parameters.

    Raises ProgrammingError for what is no term, and for a name that no variable has.
    """
    if not parameters:
        return {}
    if not isinstance(parameters, Mapping):
        raise ProgrammingError("SPARQL has variables, and no markers: give parameters by name, as in {'city': 'Ghent'} for ?city.")
    parameters = {name.removeprefix("?"): value for name, value in parameters.items()}
    missing = [name for name, value in parameters.items() if value is None]
    if missing:
        raise ProgrammingError(
            f"The parameter {missing[0]!r} is None, which is no term of RDF; leave it out where ?{missing[0]} is to be free."
        )
    names = sorted(variable_names(text))
    unknown = [name for name in parameters if name not in names]
    if unknown:
        known = ", ".join(f"?{name}" for name in names) or "none"
        raise ProgrammingError(f"The parameter {unknown[0]!r} is the name of no variable of the text, which has {known}.")
    return {name: term_of(value) for name, value in parameters.items()}
