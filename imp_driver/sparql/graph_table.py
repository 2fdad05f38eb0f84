"""How a graph lies in a Delta table: a row for each triple, its terms as text, and details of its object for readers of SQL.

One table holds the terms themselves, and no second one numbers them: so an update is one atomic commit, no two writers give one number to
two terms, and the change feed of this table tells all that has changed. Parquet keeps a term that comes again in a file once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from imp_driver.sparql.terms import LANGUAGE_TEXT, STRING, XSD
from imp_driver.values.quoting import qualified, quoted_text

COLUMNS: Final = ("s", "p", "o", "g")
"""Subject, predicate and object as ``terms.py`` writes them, and the name of the graph within the table, NULL in its default graph."""
IS_ADDED: Final = "is_added"
"""Of changed triples: whether they are inserted; the others are deleted."""
PROPERTY: Final = "imp.graph"
"""Of a table or view that is a graph: TRIPLES or MAPPING."""
TRIPLES, MAPPING = "triples", "mapping"
MAPPING_TEXT: Final = "imp.mapping"
"""Property of a view: the R2RML that it was made from."""
_MOST_NAMED = 50
"""Terms that are named in a MERGE, so that files without them are skipped."""
_SAME = "t.s = n.s AND t.p = n.p AND t.o = n.o AND t.g <=> n.g"

_LITERAL = '(?s)^"(.*)"(?:@([^"]*)|\\^\\^<([^"]*)>)?$'
_INTEGERS = (
    "integer|int|long|short|byte|nonNegativeInteger|positiveInteger|nonPositiveInteger|negativeInteger|"
    "unsignedLong|unsignedInt|unsignedShort|unsignedByte"
)
_WHOLE, _DECIMAL, _EXPONENT = "[+-]?[0-9]+", "[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)", "([eE][+-]?[0-9]+)?"


def _typed(lexical: str, names: str) -> str:
    return f'^"{lexical}"\\^\\^<{XSD}({names})>$'


_NUMBERS = "|".join((_typed(_WHOLE, _INTEGERS), _typed(_DECIMAL, "decimal"), _typed(_DECIMAL + _EXPONENT, "double|float")))
_INFINITE = {"Infinity": "[+]?INF", "-Infinity": "-INF", "NaN": "NaN"}


def _part(number: int) -> str:
    return f"regexp_extract(o, {quoted_text(_LITERAL)}, {number})"


def _special(name: str, lexical: str) -> str:
    return f"WHEN o RLIKE {quoted_text(_typed(lexical, 'double|float'))} THEN CAST('{name}' AS DOUBLE)"


DETAILS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "kind": ("STRING", "CASE left(o, 1) WHEN '<' THEN 'iri' WHEN '_' THEN 'blank' ELSE 'literal' END"),
        "lexical": (
            "STRING",
            f"CASE left(o, 1) WHEN '<' THEN substring(o, 2, length(o) - 2) WHEN '_' THEN substring(o, 3) ELSE {_part(1)} END",
        ),
        "datatype": (
            "STRING",
            f"CASE WHEN left(o, 1) <> '\"' THEN NULL WHEN right(o, 1) = '\"' THEN '{STRING}' "
            f"WHEN {_part(2)} <> '' THEN '{LANGUAGE_TEXT}' ELSE {_part(3)} END",
        ),
        "language": ("STRING", f"CASE WHEN left(o, 1) = '\"' THEN nullif({_part(2)}, '') END"),
        "number": (
            "DOUBLE",
            f"CASE WHEN o RLIKE {quoted_text(_NUMBERS)} THEN CAST({_part(1)} AS DOUBLE) "
            f"{' '.join(_special(name, lexical) for name, lexical in _INFINITE.items())} END",
        ),
    }
)
"""Types of the columns that tell of an object, and what each of them is of the column ``o``; NULL where an object has none of it."""


def create_text(name: tuple[str, ...], comment: str | None = None) -> str:
    """Return the statement that makes the table of a graph."""
    columns = [*(f"{column} STRING NOT NULL" for column in COLUMNS[:3]), f"{COLUMNS[3]} STRING"]
    columns += [f"{column} {kind}" for column, (kind, _) in DETAILS.items()]
    said = f" COMMENT {quoted_text(comment)}" if comment is not None else ""
    properties = f"'{PROPERTY}' = '{TRIPLES}', 'delta.enableChangeDataFeed' = 'true'"
    return f"CREATE TABLE {qualified(name)} ({', '.join(columns)}) USING DELTA{said} CLUSTER BY (p) TBLPROPERTIES ({properties})"


def merge_text(
    name: tuple[str, ...], rows: str, subjects: Sequence[str] = (), predicates: Sequence[str] = (), *, is_only_added: bool
) -> str:
    """Return the statement that changes triples: of a set, so that one that is there is not inserted, and one that is not is not deleted.

    Args:
        rows: a relation of different rows with COLUMNS and, unless all are inserted, IS_ADDED.
        subjects, predicates: all of the rows; empty: not known.
    """
    same = [_SAME]
    for column, terms in (("s", subjects), ("p", predicates)):
        if 0 < len(terms) <= _MOST_NAMED:
            same.append(f"t.{column} IN ({', '.join(map(quoted_text, terms))})")
    columns = ", ".join((*COLUMNS, *DETAILS))
    deleting, added = ("", "") if is_only_added else (f" WHEN MATCHED AND NOT n.{IS_ADDED} THEN DELETE", f" AND n.{IS_ADDED}")
    source = f"(SELECT {', '.join((*COLUMNS, *([] if is_only_added else [IS_ADDED])))}, {_details()} FROM {rows})"
    return (
        f"MERGE INTO {qualified(name)} AS t USING {source} AS n ON {' AND '.join(same)}{deleting} "
        f"WHEN NOT MATCHED{added} THEN INSERT ({columns}) VALUES ({', '.join(f'n.{column}' for column in (*COLUMNS, *DETAILS))})"
    )


def first_text(name: tuple[str, ...], rows: str, files: int) -> str:
    """Return the statement that writes the first triples of a graph, in files with a range of predicates each.

    It reads the graph too, so that it fails where another writer is first, and writes nothing into a graph that has triples by then.

    Args:
        rows: a relation of different rows with COLUMNS.
    """
    columns = ", ".join((*COLUMNS, *DETAILS))
    ranged = f"SELECT /*+ REPARTITION_BY_RANGE({files}, p) */ {', '.join(COLUMNS)}, {_details()} FROM {rows} AS n"
    first = f"{ranged} WHERE NOT EXISTS (SELECT 1 FROM {qualified(name)})"
    return f"INSERT INTO {qualified(name)} ({columns}) SELECT {columns} FROM ({first}) SORT BY p"


def effective_text(name: tuple[str, ...], rows: str) -> str:
    """Return the query of those of some changed triples that change something, as ``merge_text`` takes them."""
    columns = ", ".join(f"n.{column}" for column in (*COLUMNS, IS_ADDED))
    return f"SELECT {columns} FROM {rows} AS n LEFT JOIN {qualified(name)} AS t ON {_SAME} WHERE n.{IS_ADDED} = (t.s IS NULL)"


def _details() -> str:
    return ", ".join(f"{text} AS {column}" for column, (_, text) in DETAILS.items())


def clear_text(name: tuple[str, ...], graphs: Sequence[str | None], *, is_every_named: bool) -> str:
    """Return the statement that deletes the triples of some graphs of a table, None standing for the default graph."""
    if is_every_named and None in graphs:
        return f"DELETE FROM {qualified(name)}"
    named = [] if is_every_named else [quoted_text(graph) for graph in graphs if graph is not None]
    conditions = [
        *(["g IS NOT NULL"] if is_every_named else []),
        *(["g IS NULL"] if None in graphs else []),
        *([f"g IN ({', '.join(named)})"] if named else []),
    ]
    return f"DELETE FROM {qualified(name)} WHERE {' OR '.join(conditions)}"
