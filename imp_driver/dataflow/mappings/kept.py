"""The triples that a pattern reads, kept whole for evaluating it again."""

from __future__ import annotations

from collections.abc import Iterable

from imp_driver.dataflow.mappings.facts import Facts
from imp_driver.dataflow.mappings.graphs import Constants, Graphs, constants_of, key_of
from imp_driver.dataflow.mappings.operator import Row
from imp_driver.dataflow.mappings.scopes import places
from imp_driver.sparql.algebra import EachNamed, Pattern, Place

_ALL: Constants = (None, None, None)


class KeptTriples:
    """What ``evaluate`` reads, of the places of one pattern; those of all such patterns share it."""

    def __init__(self, graphs: Graphs, pattern: Pattern) -> None:
        self._facts: dict[object, Facts] = {}
        for place, nodes in dict.fromkeys(places(pattern)):
            key = key_of(place)
            facts = self._facts.get(key)
            if facts is None:
                facts = self._facts[key] = graphs.keep(("whole", key), Facts(4 if isinstance(place, EachNamed) else 3))
            graphs.whole(place, _ALL if nodes is None else constants_of(nodes), facts)

    @property
    def has_changed(self) -> bool:
        return any(facts.has_changed for facts in self._facts.values())

    def matching(self, place: Place, constants: Constants) -> Iterable[Row]:
        """Yield each triple with certain terms, with the graph's name where each is by itself."""
        facts = self._facts[key_of(place)]
        columns = tuple([column for column, term in enumerate(constants) if term is not None])
        if not columns:
            yield from facts.rows
            return
        terms = [term for term in constants if term is not None]
        key = terms[0] if len(columns) == 1 else tuple(terms)
        for rest in facts.finder(columns, is_before=False).get(key, ()):
            others = iter(rest)
            yield tuple([next(others) if column not in columns else constants[column] for column in range(facts.width)])
