"""Tests of the suites that are not passed, and judges that err, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final


class Reason(Enum):
    """Why a test is not passed: the driver refuses it."""

    VOLATILE = "a function has another value each time, so nothing can be maintained"


class Error(Enum):
    """What a judge does otherwise than the recommendation says, over some of the triples of a test alone."""

    GROUP_OF_NOTHING = "GROUP BY over no solutions has no group (section 18.5.1 of SPARQL 1.1), and not one"
    GRAPH_OF_NOTHING = "GRAPH of a name that no graph has has no solution (section 18.6)"
    ZERO_STEPS = "zero steps lead from a term to itself, also where no triple has it (section 18.4)"


_VOLATILE: Final = ("bnode01", "bnode02", "now01", "rand01", "struuid01", "uuid01", "uuid02")

KNOWN: Final[Mapping[str, Reason]] = {f"sparql11/functions/{name}": Reason.VOLATILE for name in _VOLATILE}

UNJUDGED: Final = frozenset({"sparql11/functions/bnode01", "sparql11/property-path/pp37"})
"""Tests about which no judge tells what the suite expects."""

_AGGREGATES: Final = (
    *("agg02", "agg05", "agg08b", "agg-sum-02", "agg-min-02", "agg-max-02", "agg-err-02", "agg-group-builtin", "agg-avg-distinct"),
    *("agg-count-distinct", "agg-count-rows-distinct", "agg-max-distinct", "agg-min-distinct", "agg-sum-distinct"),
)
_GROUPED: Final = ("group01", "group03", "group04", "group05")

JUDGE_ERRS: Final[Mapping[tuple[str, str], Error]] = {
    **{(f"sparql11/aggregates/{name}", "Rdflib"): Error.GROUP_OF_NOTHING for name in _AGGREGATES},
    **{(f"sparql11/grouping/{name}", "Rdflib"): Error.GROUP_OF_NOTHING for name in _GROUPED},
    ("sparql10/graph/graph-exist", "Rdflib"): Error.GRAPH_OF_NOTHING,
    **{(f"sparql11/property-path/{name}", "Oxigraph"): Error.ZERO_STEPS for name in ("pp02", "pp28a", "pp37")},
}
