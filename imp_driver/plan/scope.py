"""Names visible to one SELECT. Spark's rules, and where they leave a choice: refused."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from imp_driver.plan.nodes import Attribute
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused


@dataclass(frozen=True, slots=True)
class Source:
    """One item of FROM. ``hidden`` are attributes that USING gave away: only a qualified name finds them."""

    qualifier: str
    attributes: tuple[Attribute, ...]
    hidden: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scope:
    """``outer`` is the scope around a subquery; a name found only there makes the subquery correlated."""

    sources: tuple[Source, ...]
    outer: Scope | None = None

    def find(self, column: exp.Column) -> tuple[Attribute, int]:
        """Return what a name stands for, and how many subqueries further out it was found.

        Raises:
            Refused: unknown, ambiguous, or a field of a nested column.
        """
        if column.args.get("db"):
            raise Refused(Reason.QUALIFIED_COLUMN, column.sql(dialect="spark"))
        found = self._matches(column)
        if len(found) > 1:
            raise Refused(Reason.AMBIGUOUS_NAME, column.sql(dialect="spark"))
        if found:
            return found[0], 0
        if self.outer is None:
            raise Refused(Reason.AMBIGUOUS_NAME, f"{column.sql(dialect='spark')} (not a column of its source)")
        attribute, depth = self.outer.find(column)
        return attribute, depth + 1

    def has(self, name: str) -> bool:
        """Say whether an unqualified name is a column of this SELECT's own sources."""
        return bool(self._matches(exp.column(name)))

    def _matches(self, column: exp.Column) -> list[Attribute]:
        name, qualifier = column.name.lower(), column.table.lower()
        return [
            attribute
            for source in self.sources
            for attribute in source.attributes
            if attribute.name.lower() == name
            and (source.qualifier == qualifier if qualifier else attribute.identifier not in source.hidden)
        ]

    def star(self, qualifier: str = "") -> tuple[Attribute, ...]:
        """Return the columns of ``*`` or ``qualifier.*`` in order; those of USING come first.

        Raises:
            Refused: no such source.
        """
        if qualifier:
            found = [source for source in self.sources if source.qualifier == qualifier.lower()]
            if len(found) != 1:
                raise Refused(Reason.AMBIGUOUS_NAME, f"{qualifier}.*")
            return found[0].attributes
        if any(source.hidden for source in self.sources):
            raise Refused(Reason.UNSUPPORTED_EXPRESSION, "* over JOIN USING")
        return tuple(attribute for source in self.sources for attribute in source.attributes)
