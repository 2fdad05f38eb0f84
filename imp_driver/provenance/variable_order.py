"""In which order base rows get their variables: rows that share values next to each other, which keeps diagrams small."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from imp_driver.provenance.base_rows import Fact

_COMMON = 16
"""A value of so many rows may always connect them."""


def rows_nearby(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts in the order of a walk, breadth first, from row to row over the values that they share.

    For links of a network this is the order in which a flood reaches them. Values that an eighth of the rows have connect nothing: a
    kind or a price says nothing about what is derived together. Rows with rare values come first where there is a choice.
    """
    listed = list(facts)
    holders: dict[object, list[int]] = {}
    for place, (_, row) in enumerate(listed):
        for value in dict.fromkeys(row):
            holders.setdefault(value, []).append(place)
    most = max(_COMMON, len(listed) // 8)
    holders = {value: places for value, places in holders.items() if value is not None and len(places) <= most}
    walked = dict.fromkeys(_walk(listed, holders))
    return [listed[place] for place in (*walked, *(each for each in range(len(listed)) if each not in walked))]


def _walk(listed: list[Fact], holders: Mapping[object, list[int]]) -> Iterator[int]:
    """Yield places of rows, some several times."""
    seen: set[object] = set()
    for start in sorted(holders, key=lambda value: len(holders[value])):
        waiting = deque([start] if start not in seen else [])
        seen.add(start)
        while waiting:
            places = holders[waiting.popleft()]
            yield from places
            following = dict.fromkeys(value for place in places for value in listed[place][1] if value in holders and value not in seen)
            seen.update(following)
            waiting.extend(sorted(following, key=lambda value: len(holders[value])))
