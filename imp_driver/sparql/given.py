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

    Raises ProgrammingError for what is no term, and for a name that no variable has, or that is given twice.
    """
    if not parameters:
        return {}
    if not isinstance(parameters, Mapping):
        raise ProgrammingError("SPARQL has variables, and no markers: give parameters by name, as in {'city': 'Ghent'} for ?city.")
    twice = next((name for name in parameters if name.startswith("?") and name[1:] in parameters), None)
    if twice is not None:
        raise ProgrammingError(f"The parameter {twice[1:]!r} is given twice, with a question mark and without.")
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
        hint = f" A parameter is a variable: write ?{unknown[0]} for :{unknown[0]}." if f":{unknown[0]}" in text else ""
        raise ProgrammingError(f"The parameter {unknown[0]!r} is the name of no variable of the text, which has {known}.{hint}")
    return {name: term_of(value) for name, value in parameters.items()}
