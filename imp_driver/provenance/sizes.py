"""How many bytes rows and annotations take when they are shipped."""

from __future__ import annotations

from imp_driver.dataflow.recursion.facts import Row
from imp_driver.provenance.diagrams import Diagrams
from imp_driver.provenance.library import Function

MESSAGE_BYTES = 16
"""Of what a message has besides its content."""
NODE_BYTES = 12
"""Of a node of a diagram: its variable and the places of its two branches, 4 bytes each."""
VARIABLE_BYTES = 4


def row_bytes(row: Row) -> int:
    """Return 8 bytes a number, the UTF-8 of a text, what a sequence holds, and 2 bytes for the length of these."""
    return sum(map(_value_bytes, row))


def annotation_bytes(diagrams: Diagrams, function: Function) -> int:
    """Return the bytes of all nodes of an annotation, without the constant."""
    return (diagrams.nodes_of([function]) - 1) * NODE_BYTES


def _value_bytes(value: object) -> int:
    match value:
        case str():
            return 2 + len(value.encode())
        case tuple():
            return 2 + row_bytes(value)
        case None:
            return 1
    return 8
