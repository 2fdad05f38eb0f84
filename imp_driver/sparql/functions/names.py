"""Names of functions: which are known, and which one a name that is not known may be meant for."""

from __future__ import annotations

import difflib
from typing import Final

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.sparql.functions.casts import CASTS
from imp_driver.sparql.functions.library import FUNCTIONS, PREDICATES
from imp_driver.sparql.terms import XSD, Term, lexical

_WORDS: Final = (
    *(name for name in (*FUNCTIONS, *PREDICATES) if name not in CASTS),
    *("BOUND", "IF", "COALESCE", "NOW", "BNODE", "EXISTS", "COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"),
)
_CASTS: Final = tuple(f"xsd:{lexical(name).removeprefix(XSD)}" for name in CASTS)
_BY_LOCAL_NAME: Final = {name.rpartition(":")[2].upper(): name for name in (*_WORDS, *_CASTS)}
_NEAR: Final = 0.6
_SHORTEST: Final = 3
"""Letters of a name that says what it may be meant for."""


def nearest(name: str) -> str | None:
    """Return the function whose name is most like a name, which may be an IRI; None where none is."""
    known = [each for each, shown in _BY_LOCAL_NAME.items() if shown in _CASTS or not name.startswith(XSD)]
    local = name.replace("#", "/").rpartition("/")[2].rpartition(":")[2].upper().replace("-", "_")
    found = difflib.get_close_matches(local, known, 1, _NEAR) if len(local) >= _SHORTEST else ()
    return _BY_LOCAL_NAME[found[0]] if found else None


def meant(name: str) -> str:
    """Return the question whether the nearest function was meant; empty where there is none."""
    near = nearest(name)
    return "" if near is None else f". Did you mean {near}?"


def check_call(name: Term, arguments: int) -> None:
    """Check the call of a function by its IRI, without which its value would be an error everywhere.

    Raises:
        NotSupportedError: no function has the IRI.
        ProgrammingError: it takes another number of arguments.
    """
    if name not in CASTS:
        hint = meant(lexical(name)) or f": those by IRIs are {', '.join(_CASTS)}."
        raise NotSupportedError(f"no function {name} is known{hint}")
    if arguments != 1:
        raise ProgrammingError(f"{name} takes one argument, and here it has {arguments}")
