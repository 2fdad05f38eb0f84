"""Files of RDF -> rows of a graph, in batches as they are read."""

from __future__ import annotations

import gzip
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, Final

import pyarrow as pa

from imp_driver.errors import NotSupportedError, OperationalError, ProgrammingError
from imp_driver.sparql.graph_table import COLUMNS
from imp_driver.sparql.terms import Term, blank, iri, literal

if TYPE_CHECKING:
    from pyoxigraph import Quad

FORMATS: Final = MappingProxyType(
    {
        "ttl": "TURTLE",
        "nt": "N_TRIPLES",
        "nq": "N_QUADS",
        "trig": "TRIG",
        "rdf": "RDF_XML",
        "owl": "RDF_XML",
        "n3": "N3",
        "jsonld": "JSON_LD",
    }
)
"""Endings of files, and the library's names of their formats."""
SCHEMA: Final = pa.schema([pa.field(column, pa.string(), nullable=column == "g") for column in COLUMNS])
BATCH_ROWS: Final = 100_000


def format_of(path: Path) -> str:
    """Return the ending that says a file's format, ``.gz`` left out. Raises ProgrammingError for others than FORMATS."""
    ending = Path(path.name.lower().removesuffix(".gz")).suffix.removeprefix(".")
    if ending not in FORMATS:
        raise ProgrammingError(f"The file {path.name} is none of {', '.join(f'.{each}' for each in FORMATS)} (also with .gz).")
    return ending


def read_batches(path: Path, ending: str, graph: Term | None = None) -> Iterator[pa.Table]:
    """Yield the triples of a file, as often as they are there.

    Blank nodes keep their labels with an addition that no other reading has. Relative IRIs are those beside the file.

    Args:
        ending: the format, one of FORMATS.
        graph: name of the graph for triples for which the file names none; None: the default graph.

    Raises:
        ProgrammingError: the file is not of this format; the message has the line.
        NotSupportedError: the library is not installed, or the file has what graphs here do not hold, as triples about triples.
        OperationalError: the file cannot be read.
    """
    suffix = f"_{uuid.uuid4().hex}"
    columns: tuple[list[Any], ...] = ([], [], [], [])
    subjects, predicates, objects, graphs = columns
    for subject, predicate, value, name in _quads(path, ending):
        subjects.append(term_of(subject, suffix))
        predicates.append(iri(predicate.value))
        objects.append(term_of(value, suffix))
        graphs.append(graph if type(name).__name__ == "DefaultGraph" else term_of(name, suffix))
        if len(subjects) == BATCH_ROWS:
            yield _table(columns, path)
            for column in columns:
                column.clear()
    if subjects:
        yield _table(columns, path)


def _table(columns: tuple[list[Any], ...], path: Path) -> pa.Table:
    try:
        return pa.Table.from_arrays([pa.array(column, pa.string()) for column in columns], schema=SCHEMA)
    except (UnicodeEncodeError, pa.ArrowException) as error:
        raise ProgrammingError(f"The file {path.name} has a text that is not Unicode: half of a character.") from error


def _quads(path: Path, ending: str) -> Iterator[Quad]:
    try:
        from pyoxigraph import RdfFormat, parse
    except ImportError as error:
        raise NotSupportedError("Files of RDF need pyoxigraph: pip install 'imp_driver[sparql]'.") from error
    try:
        with _opened(path) as file:
            yield from parse(file, format=getattr(RdfFormat, FORMATS[ending]), base_iri=path.absolute().as_uri())
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""
        raise ProgrammingError(f"The file {path.name}{where}: {_what(error)}.") from error
    except (OSError, EOFError) as error:
        raise OperationalError(f"The file {path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error


def _opened(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")  # type: ignore[return-value]


def _what(error: SyntaxError) -> str:
    """Return what is wrong, without the place, which the library puts before it."""
    message = str(error.msg).removesuffix(".")
    if "LoadDocumentCallback" in message:
        return "its @context is at another place, and nothing is fetched; write what stands there into the file"
    return message.split(": ", 1)[-1] if message.startswith("Parser error") else message


def term_of(term: Any, suffix: str = "") -> Term:
    """Return the text of a term of the library; ``suffix`` follows labels of blank nodes. Raises NotSupportedError for one of RDF 1.2."""
    match type(term).__name__:
        case "NamedNode":
            return iri(term.value)
        case "BlankNode":
            return blank(term.value + suffix)
        case "Literal" if getattr(term, "direction", None) is None:
            return literal(term.value, term.datatype.value, term.language)
    raise NotSupportedError(f"{term} is a term of RDF 1.2; graphs here hold those of RDF 1.1.")
