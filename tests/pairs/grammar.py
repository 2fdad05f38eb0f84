"""The grammar of the attack by pairs: a query with what goes before it, one value of each dimension.

Which values met in queries *whose sketch was used* is counted pair by pair, so that no two features wait for luck to come together; and
for what was asked before, the order and the kind of condition on a key, three by three.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from types import MappingProxyType

Choice = Mapping[str, str]
Interaction = tuple[tuple[str, str], ...]
"""Values that meet in one case, each with its dimension: any two, and those three that are dangerous together."""


@dataclass(frozen=True, slots=True)
class Source:
    """``text`` stands after FROM, ``where`` is a condition that belongs to it; ``key``, ``second``, ``other``, ``value`` are columns."""

    text: str
    where: str = ""
    key: str = "g"
    second: str = "x"
    other: str = "g"
    value: str = "a"


def _join(kind: str, condition: str = "r.g = s.k") -> Source:
    return Source(f"r {kind} JOIN s ON {condition}", key="r.g", second="r.x", other="s.k", value="s.b")


SOURCES: Mapping[str, Source] = {
    "table": Source("r"),
    "inner join": _join("INNER"),
    "left join": _join("LEFT"),
    "right join": _join("RIGHT"),
    "full join": _join("FULL"),
    "join on two columns": _join("INNER", "r.g = s.k AND r.x = s.y"),
    "left join with a condition": _join("LEFT", "r.g = s.k AND s.b > 0"),
    "EXISTS": Source("r", "EXISTS (SELECT 1 FROM s WHERE s.k = r.g)"),
    "NOT EXISTS": Source("r", "NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.g AND s.b > 2)"),
    "IN": Source("r", "g IN (SELECT k FROM s WHERE b > 0)"),
    "derived": Source("(SELECT g, x, a + 1 AS a FROM r WHERE a >= 0) t"),
    "derived groups": Source("(SELECT g, x, sum(a) AS a FROM r GROUP BY g, x) t"),
    "DISTINCT": Source("(SELECT DISTINCT g, x, a FROM r) t"),
    "UNION ALL": Source("(SELECT g, x, a FROM r UNION ALL SELECT k, y, b FROM s) t"),
    "UNION": Source("(SELECT g, x, a FROM r UNION SELECT k, y, b FROM s) t"),
}
KEYS: Mapping[str, str] = {
    "one": "{key}",
    "two": "{key}, {second}",
    "of the other side": "{other}",
    "other side and own": "{other}, {second}",
    "of both sides": "{key}, {other}",
}
"""Group keys; ``k`` below is the first of them."""
KEY_CONDITIONS: Mapping[str, str] = {
    "none": "",
    ">": "{k} > {low}",
    "<=": "{k} <= {low}",
    "=": "{k} = {low}",
    "IN": "{k} IN ({low}, {high})",
    "BETWEEN": "{k} BETWEEN {low} AND {high}",
    "IS NULL": "{k} IS NULL",
    "IS NOT NULL": "{k} IS NOT NULL",
    "OR": "({k} < {low} OR {k} > {high})",
    "+": "{k} + 1 > {low}",
    "*": "{k} * 2 < {high}",
    "%": "{k} % 2 = {bit}",
    "abs": "abs({k} - {low}) <= 1",
    "coalesce": "coalesce({k}, {low}) >= {low}",
    "nullif": "nullif({k}, {low}) IS NOT NULL",
    "CASE": "CASE WHEN {k} > {low} THEN 1 ELSE 0 END = {bit}",
    "IF": "IF({k} > {low}, {k}, 0) < {high}",
    "greatest": "greatest({k}, {low}) = {low}",
    "CAST": "CAST({k} AS BIGINT) >= {low}",
    "LIKE": "CAST({k} AS STRING) LIKE '{low}%'",
    "substring": "substring(CAST({k} AS STRING), 1, 1) = '{low}'",
    "OR with an expression": "({k} + 1 = {low} OR {k} > {high})",
    "<=>": "{k} <=> {low}",
    "two": "{k} > {low} AND {k} % 2 = {bit}",
}
_SIMPLE: Mapping[str, tuple[str, ...]] = {
    "none": ("none",),
    "comparison": (">", "<=", "=", "IN", "BETWEEN", "OR", "<=>"),
    "test for NULL": ("IS NULL", "IS NOT NULL"),
    "comparison and expression": ("two", "OR with an expression"),
}
_NOT_SIMPLE = tuple(name for name in KEY_CONDITIONS if all(name not in names for names in _SIMPLE.values()))
KINDS: Mapping[str, tuple[str, ...]] = {**_SIMPLE, "expression": _NOT_SIMPLE}
"""Conditions on a key by what the driver can do with them."""
KIND = "kind of key condition"
_KIND_OF = {condition: kind for kind, conditions in KINDS.items() for condition in conditions}
ROW_CONDITIONS: Mapping[str, str] = {
    "none": "",
    "comparison": "{value} > {bit}",
    "arithmetic": "{value} + {second} > {bit}",
    "IS NULL": "{value} IS NULL",
    "with a key": "({value} > 1 OR {k} > {low})",
    "CASE": "CASE WHEN {value} > 1 THEN {second} ELSE 0 END >= 0",
}
AGGREGATES: Mapping[str, str] = {
    "count(*)": "count(*)",
    "count": "count({value})",
    "sum": "sum({value})",
    "avg": "avg({value})",
    "min": "min({value})",
    "max": "max({value})",
    "count(DISTINCT)": "count(DISTINCT {value})",
    "sum of CASE": "sum(CASE WHEN {second} > 1 THEN {value} ELSE 0 END)",
    "FILTER": "count(*) FILTER (WHERE {value} > 1)",
    "sum of a product": "sum({value} * 2)",
}
GROUP_CONDITIONS: Mapping[str, str] = {
    "none": "",
    ">": "{f} > {most}",
    "<": "{f} < {bit}",
    "=": "{f} = {most}",
    "BETWEEN": "{f} BETWEEN {most} AND {most} + 2",
    "OR": "({f} > {most} OR count(*) > 12)",
    "AND": "{f} > {bit} AND count(*) > {few}",
    "NOT": "NOT {f} <= {most}",
    "IS NULL": "{f} IS NULL",
    "arithmetic": "2 * {f} - 1 > {most}",
    "on a key": "{k} > {high}",
    "on a key's expression": "{k} + 1 > {high} AND count(*) > 1",
}
ORDERS: Mapping[str, str] = {
    "none": "",
    "largest": "f DESC, {names}",
    "smallest": "f, {names}",
    "negated": "-f, {names}",
    "keys": "{names}",
    "keys, last first": "{reversed}",
    "NULLs last": "f NULLS LAST, {names}",
}
LIMITS: Mapping[str, str] = {"none": "", "1": " LIMIT 1", "3": " LIMIT 3", "OFFSET": " LIMIT 2 OFFSET 1"}
AROUND: Mapping[str, str] = {
    "itself": "{block}",
    "filter": "SELECT k1, f FROM ({block}) q WHERE f IS NOT NULL",
    "aggregate": "SELECT count(*) AS n, max(f) AS m FROM ({block}) q",
    "join": "SELECT q.k1, q.f, u.b FROM ({block}) q JOIN s u ON u.k = q.k1",
    "IN": "SELECT id, a FROM r WHERE g IN (SELECT k1 FROM ({block}) q)",
}
STATES = ("first", "again", "other constants", "all keys", "other key condition", "other condition on groups", "other order", "no order")
"""What was asked before: nothing, the same, or a query that differs in this."""
CHANGES = ("none", "insert", "delete", "update of a value", "update of a key", "end of a group", "of the other table")
HOLDERS = ("memory", "buckets", "few rows kept", "ahead")
FRAGMENTS = ("10000", "7", "2")
RUNS = ("40", "2")
CLUSTERING = ("first", "second", "third")
LOOK_UPS = ("by the engine", "in files")
DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "source": tuple(SOURCES),
    "keys": tuple(KEYS),
    "key condition": tuple(KEY_CONDITIONS),
    "row condition": tuple(ROW_CONDITIONS),
    "aggregate": tuple(AGGREGATES),
    "group condition": tuple(GROUP_CONDITIONS),
    "order": tuple(ORDERS),
    "limit": tuple(LIMITS),
    "around": tuple(AROUND),
    "state": STATES,
    "change": CHANGES,
    "holder": HOLDERS,
    "fragments": FRAGMENTS,
    "runs": RUNS,
    "clustering": CLUSTERING,
    "look-ups": LOOK_UPS,
}
"""The last four are 36 settings of the driver and of the warehouse."""
QUERY = tuple(DIMENSIONS)[:9]
"""Those that a query has by itself."""


def every_interaction(dimensions: Sequence[str]) -> Iterator[Interaction]:
    """Yield all pairs of values of different dimensions, then the triples of state, order and kind of condition on a key."""
    values = [(dimension, value) for dimension in dimensions for value in DIMENSIONS[dimension]]
    yield from ((one, other) for one, other in combinations(values, 2) if one[0] != other[0])
    if "state" in dimensions:
        for state, order, kind in product(STATES, ORDERS, KINDS):
            yield ("state", state), ("order", order), (KIND, kind)


def interactions_of(choice: Choice, dimensions: Sequence[str]) -> Iterator[Interaction]:
    """Yield those that a choice has."""
    yield from combinations(((dimension, choice[dimension]) for dimension in dimensions), 2)
    if "state" in dimensions:
        yield ("state", choice["state"]), ("order", choice["order"]), (KIND, _KIND_OF[choice["key condition"]])


def wanted_for(interaction: Interaction, chance: random.Random) -> Choice:
    """Return values of a choice that has an interaction."""
    wanted = dict(interaction)
    kind = wanted.pop(KIND, None)
    return wanted if kind is None else wanted | {"key condition": chance.choice(KINDS[kind])}


_NO_LIMIT_WITHOUT_ORDER = "a limit without an order has no one answer, an order without a limit drops no group"
_NO_OTHER_ORDER = "what has no order differs in none"
_ORDERED = frozenset(ORDERS) - {"none"}
_CHANGED = frozenset(CHANGES) - {"none"}
_OF_ONE_TABLE = frozenset(name for name, source in SOURCES.items() if "s" not in re.findall(r"\w+", f"{source.text} {source.where}"))
OUT_OF_REACH: tuple[tuple[str, Mapping[str, frozenset[str]]], ...] = (
    (_NO_LIMIT_WITHOUT_ORDER, {"order": frozenset({"none"}), "limit": frozenset(LIMITS) - {"none"}}),
    (_NO_LIMIT_WITHOUT_ORDER, {"order": _ORDERED, "limit": frozenset({"none"})}),
    (_NO_OTHER_ORDER, {"order": frozenset({"none"}), "state": frozenset({"other order", "no order"})}),
    (_NO_OTHER_ORDER, {"limit": frozenset({"none"}), "state": frozenset({"other order", "no order"})}),
    ("what asks for all keys was asked for all keys", {"key condition": frozenset({"none"}), "state": frozenset({"all keys"})}),
    ("what asks for all keys was asked for all keys", {KIND: frozenset({"none"}), "state": frozenset({"all keys"})}),
    ("before the first query there is no state to follow a change", {"state": frozenset({"first"}), "change": _CHANGED}),
    ("groups of one table do not follow the other", {"source": _OF_ONE_TABLE, "change": frozenset({"of the other table"})}),
    ("only changes are maintained ahead", {"holder": frozenset({"ahead"}), "change": frozenset({"none"})}),
    ("only changes are maintained ahead", {"holder": frozenset({"ahead"}), "state": frozenset({"first"})}),
    ("partners are looked up for changed rows", {"holder": frozenset({"few rows kept"}), "change": frozenset({"none"})}),
    ("partners are looked up for changed rows", {"holder": frozenset({"few rows kept"}), "state": frozenset({"first"})}),
    ("groups of one table have no partners", {"holder": frozenset({"few rows kept"}), "source": _OF_ONE_TABLE}),
)
"""Values that no query has together, or that have no effect together."""


def why_none(values: Mapping[str, str], reasons: Sequence[tuple[str, Mapping[str, frozenset[str]]]] = OUT_OF_REACH) -> str | None:
    """Return the first reason why no query has these values."""
    return next((why for why, found in reasons if all(values.get(name) in each for name, each in found.items())), None)


def is_a_query(choice: Choice) -> bool:
    """Say whether a choice has one answer, effects of all its values, and something for its sketch to leave out."""
    drops = (choice["key condition"], choice["row condition"], choice["group condition"], choice["limit"])
    return why_none(choice) is None and any(value != "none" for value in drops)


def random_choice(chance: random.Random, wanted: Choice = MappingProxyType({})) -> Choice:
    """Return a choice that has the wanted values, with plain ones more often than others, so that rules are met alone too.

    Raises ValueError where none has them all.
    """
    for _ in range(2_000):
        choice = {
            dimension: wanted.get(dimension) or (values[0] if chance.random() < 0.35 else chance.choice(values))
            for dimension, values in DIMENSIONS.items()
        }
        if is_a_query(choice):
            return choice
    raise ValueError(f"no query has {dict(wanted)}")


def text_of(choice: Choice, chance: random.Random) -> str:
    """Return the query of a choice, with random constants."""
    source = SOURCES[choice["source"]]
    low = chance.randint(1, 6)
    names = {
        "key": source.key,
        "second": source.second,
        "other": source.other,
        "value": source.value,
        "low": str(low),
        "high": str(low + chance.randint(1, 3)),
        "bit": str(chance.randint(0, 1)),
        "few": str(chance.randint(1, 3)),
        "most": str(chance.randint(2, 9)),
    }
    keys = KEYS[choice["keys"]].format(**names).split(", ")
    names["k"] = keys[0]
    names["f"] = AGGREGATES[choice["aggregate"]].format(**names)
    columns = [f"k{place}" for place in range(1, len(keys) + 1)]
    names["names"], names["reversed"] = ", ".join(columns), ", ".join(f"{each} DESC" for each in columns)
    conditions = (source.where, KEY_CONDITIONS[choice["key condition"]], ROW_CONDITIONS[choice["row condition"]])
    where = " AND ".join(each.format(**names) for each in conditions if each)
    items = ", ".join(f"{key} AS {name}" for key, name in zip(keys, columns, strict=True))
    block = f"SELECT {items}, {names['f']} AS f FROM {source.text}{f' WHERE {where}' if where else ''} GROUP BY {', '.join(keys)}"
    having, order = (part.format(**names) for part in (GROUP_CONDITIONS[choice["group condition"]], ORDERS[choice["order"]]))
    block += f"{f' HAVING {having}' if having else ''}{f' ORDER BY {order}' if order else ''}{LIMITS[choice['limit']]}"
    return AROUND[choice["around"]].format(block=block)


def asked_before(choice: Choice, chance: random.Random) -> Choice | None:
    """Return what is asked before a query; None where nothing is."""
    state = choice["state"]
    if state == "first":
        return None

    def other(dimension: str) -> dict[str, str]:
        return {dimension: chance.choice([value for value in DIMENSIONS[dimension] if value not in (choice[dimension], "none")])}

    changed = {
        "all keys": {"key condition": "none"},
        "other key condition": other("key condition"),
        "other condition on groups": other("group condition"),
        "other order": other("order"),
        "no order": {"order": "none", "limit": "none", "group condition": ">"},
    }
    return {**choice, **changed.get(state, {})}
