"""Which graphs a query looks at (section 13 of SPARQL 1.1).

A relative IRI names a graph table of the warehouse, an absolute one a named graph within the default tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from imp_driver.errors import ProgrammingError
from imp_driver.sparql.algebra import EachNamed, Place, Source, Variable
from imp_driver.sparql.reading.names import is_absolute
from imp_driver.sparql.terms import Term, iri

_ADVICE = "write FROM <name>, or set the option graph=name of the connection"


@dataclass(frozen=True, slots=True)
class Dataset:
    """Graphs of a query.

    Attributes:
        default: what patterns outside GRAPH look at; None where nothing says.
        named: the graphs of FROM NAMED and USING NAMED with their names; None without these clauses.
        tables: where named graphs are looked for.
    """

    default: tuple[Source, ...] | None
    named: tuple[tuple[Term, Source], ...] | None = None
    tables: tuple[str, ...] = ()

    @classmethod
    def of(cls, sources: Sequence[Source]) -> Dataset:
        """Return the dataset whose default graph is the union of sources; none: there is no default."""
        return cls(tuple(sources) or None, None, _tables(sources))

    def restricted(self, default: Sequence[str], named: Sequence[str]) -> Dataset:
        """Return the dataset of FROM and FROM NAMED clauses, of which ``self`` is the one without them.

        Raises:
            ProgrammingError: a named graph, and no table to find it in.
        """
        if not default and not named:
            return self
        written = tuple(name for name in default if not is_absolute(name))
        tables = tuple(dict.fromkeys(written)) or self.tables
        whole = Dataset(self.default, None, tables)
        sources = tuple(dict.fromkeys(source for name in default for source in whole.sources(name)))
        pairs = tuple((iri(name), source) for name in named for source in whole.sources(name))
        # Of the tables of FROM the named graphs are there; a dataset of named graphs alone has none but those of FROM NAMED.
        return Dataset(sources, tuple(dict.fromkeys(pairs)) if named or not written else None, tables)

    def sources(self, name: str) -> tuple[Source, ...]:
        """Return the graph of a name, one of each table where it is a named graph.

        Raises:
            ProgrammingError: a named graph, and no table to find it in.
        """
        if not is_absolute(name):
            return (Source(name),)
        if not self.tables:
            raise ProgrammingError(f"<{name}> is a named graph, and no graph table is there to find it in: {_ADVICE}")
        return tuple(Source(table, iri(name)) for table in self.tables)

    def outside(self) -> Place:
        """Return where patterns outside GRAPH look.

        Raises:
            ProgrammingError: nothing says which graph.
        """
        if self.default is None:
            raise ProgrammingError(f"the query does not say which graph it asks: {_ADVICE}")
        return self.default

    def graph(self, name: str) -> tuple[Source, ...]:
        """Return where GRAPH of a name looks: nowhere if FROM NAMED leaves it out."""
        if self.named is not None:
            return tuple(source for known, source in self.named if known == iri(name))
        return self.sources(name)

    def each(self, variable: Variable) -> EachNamed:
        """Return where GRAPH of a variable looks.

        Raises:
            ProgrammingError: nothing says in which tables.
        """
        if self.named is not None:
            return EachNamed(variable, (), self.named)
        if not self.tables:
            raise ProgrammingError(f"GRAPH ?{variable.name} has no graph table whose named graphs it could take: {_ADVICE}")
        return EachNamed(variable, self.tables)


def _tables(sources: Iterable[Source]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source.table for source in sources))
