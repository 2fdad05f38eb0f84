"""Expressions over the keys of groups: what the keys alone decide."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import pyarrow as pa
from sqlglot import exp

from imp_driver.answer.granule import Granule, granule_of, over_granules
from imp_driver.parse.statement import DIALECT
from imp_driver.plan.bind import BoundBlock
from imp_driver.plan.convert import convert
from imp_driver.plan.minus_zero import NAME as MINUS_ZERO
from imp_driver.plan.types import infer
from imp_driver.values.expressions import Cast, Column, DatePart, Expression, Function, Opaque, parts_of, walk
from imp_driver.values.result_types import type_of
from imp_driver.values.types import INSTANT

KeySource: TypeAlias = int | Expression
"""Where the value of a key comes from: the place of a finer key, or an expression over finer keys."""

_DATE = "date "


def text(node: exp.Expr) -> str:
    """Return by what two expressions are told apart."""
    return node.sql(dialect=DIALECT)


class Texts:
    """The texts of expressions, each written once: those of a query are compared with many states."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[exp.Expr, str]] = {}

    def of(self, node: exp.Expr) -> str:
        # An expression that is kept here keeps its identity for itself.
        found = self._known.get(id(node))
        if found is None:
            found = self._known[id(node)] = (node, text(node))
        return found[1]


def key_name(place: int) -> str:
    return f"key_{place}"


def is_sparks(expression: Expression, types: Mapping[str, pa.DataType | None]) -> bool:
    """Say whether some part of an expression is Spark's to compute: one that is not known here, or depends on the session's zone."""
    return any(isinstance(each, Opaque) or _depends_on_zone(each, types) for each in walk(expression))


def _depends_on_zone(expression: Expression, types: Mapping[str, pa.DataType | None]) -> bool:
    is_told = isinstance(expression, DatePart | Cast) or (isinstance(expression, Function) and expression.name not in _OF_INSTANTS)
    return is_told and any(type_of(part, types) == INSTANT for part in parts_of(expression))


_OF_INSTANTS = ("local", "shown", "trunc_in_zone")
"""Functions of a TIMESTAMP that know the zone."""


def _asks_for_minus_zero(expression: Expression) -> bool:
    """Say whether an expression tells apart what a key does not."""
    return any(isinstance(each, Function) and each.name == MINUS_ZERO for each in walk(expression))


class Keys:
    """The keys of finer groups, and which of them expressions were found to read."""

    def __init__(self, finer: BoundBlock, types: Mapping[str, pa.DataType | None], texts: Texts) -> None:
        self._texts = texts
        self._places = {each: place for place, each in reversed(list(enumerate(finer.keys_sql)))}
        self._named = {key_name(place): place for place in range(len(finer.keys_sql))}
        self._types = types
        self._granules = _granules(finer, types)
        self._kinds = {key_name(place): infer(node, types) for place, node in enumerate(finer.key_nodes)}
        self._kinds |= {name: types.get(name.removeprefix(_DATE)) for name in self._granules}
        self.read: set[int] = set()

    def source(self, node: exp.Expr) -> KeySource | None:
        place = self._places.get(self._texts.of(node))
        return self.over(node) if place is None else place

    def over(self, node: exp.Expr) -> Expression | None:
        """Return an expression over the keys, None where it reads something else or is Spark's to compute."""

        def leaf(each: exp.Expr) -> Expression | None:
            place = self._places.get(self._texts.of(each))
            if place is not None and not isinstance(each, exp.Literal) and self._is_known(each):
                return Column(key_name(place))
            if not isinstance(each, exp.Column):
                return None
            return Column(_date(each.name)) if _date(each.name) in self._granules else Opaque(each.name)

        found = convert(node, leaf)
        over = None if is_sparks(found, self._kinds) or _asks_for_minus_zero(found) else over_granules(found, self._granules)
        if over is not None:
            self.read |= {self._named[each.name] for each in walk(over) if isinstance(each, Column)}
        return over

    def _is_known(self, node: exp.Expr) -> bool:
        """Say whether values are compared as the operators do: CHAR, say, is padded by Spark."""
        inner = node.unnest()
        return not isinstance(inner, exp.Column) or self._types.get(inner.name) is not None


def _granules(finer: BoundBlock, types: Mapping[str, pa.DataType | None]) -> dict[str, tuple[Granule, ...]]:
    """Return the granules of dates and times that are keys, by what stands for these."""
    found: dict[str, tuple[Granule, ...]] = {}
    for place, key in enumerate(finer.keys):
        granule = granule_of(key, Column(key_name(place)), types)
        if granule is not None:
            found[_date(granule[0])] = (*found.get(_date(granule[0]), ()), granule[1])
    return found


def _date(name: str) -> str:
    """Name a column whose values are not there, unlike any key."""
    return _DATE + name
