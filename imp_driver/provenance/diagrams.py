"""Monotone Boolean functions over numbered variables, as reduced ordered binary decision diagrams (section 4.1 of the paper).

A diagram is canonical, so that absorption (``a AND (a OR b) = a``) needs no step of its own, and equal functions are equal objects. The
order of the variables is the one in which they are first named, and never changes: no reordering.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping, Sequence
from typing import TypeVar

from imp_driver.provenance.library import Function, LibraryName, load

DEFAULT_LIMIT = 250_000
"""Nodes that all functions of one manager may have together."""

_Value = TypeVar("_Value")


class TooManyNodes(Exception):
    """The functions need more nodes than are allowed, or are deeper than the library can follow. The caller does without provenance."""


class Diagrams:
    """Makes functions and answers questions about them. Functions of two objects must not meet.

    Args:
        library: which one; the faster one that is installed if None.
        limit: nodes that all functions together may have, looked at by ``keep_within_limit``.

    Raises:
        NotSupportedError: the library is not installed.
    """

    def __init__(self, library: LibraryName | None = None, *, limit: int = DEFAULT_LIMIT) -> None:
        self._chosen = library
        self._library = load(library, limit)
        self._manager = self._library.manager
        self._limit = limit
        self._variables: dict[int, Function] = {}
        self._counted = self._grown = 0
        self.false = self._manager.false
        self.true = self._manager.true

    def empty(self) -> Diagrams:
        """Return diagrams without variables, of the same library and with the same limit."""
        return Diagrams(self._chosen, limit=self._limit)

    @property
    def variables(self) -> Collection[int]:
        """The variables that were named so far, in their order. They take memory for as long as the object is there."""
        return self._variables.keys()

    def variable(self, number: int) -> Function:
        """Return the function that is true where this variable is; its place in the order is after all that were named before."""
        found = self._variables.get(number)
        if found is None:
            self._library.declare(str(number))
            found = self._variables[number] = self._manager.var(str(number))
        return found

    def and_(self, one: Function, other: Function) -> Function:
        """Return the conjunction. Raises TooManyNodes, as all operations, where a single result is far over the limit."""
        try:
            return one & other
        except (RuntimeError, ValueError) as error:
            raise self._too_many(error) from error

    def or_(self, one: Function, other: Function) -> Function:
        try:
            return one | other
        except (RuntimeError, ValueError) as error:
            raise self._too_many(error) from error

    def minus(self, new: Function, old: Function) -> Function:
        """Return ``new AND NOT old``, which is not monotone."""
        return self.and_(new, ~old)

    def all_of(self, variables: Iterable[int]) -> Function:
        """Return the conjunction of variables."""
        function = self.true
        for number in variables:
            function = self.and_(function, self.variable(number))
        return function

    def restrict_false(self, function: Function, variables: Iterable[int]) -> Function:
        """Return the function with all of these variables false, in one go; variables that were never named make no difference."""
        values = {str(number): False for number in variables if number in self._variables}
        if not values:
            return function
        try:
            return self._manager.let(values, function)
        except (RuntimeError, ValueError) as error:
            raise self._too_many(error) from error

    def is_false(self, function: Function) -> bool:
        return function == self.false

    def is_constant(self, function: Function) -> bool:
        return function in (self.false, self.true)

    def variables_of(self, function: Function) -> frozenset[int]:
        """Return the variables on which the function depends."""
        try:
            return frozenset(map(int, function.support))
        except RecursionError as error:
            raise self._too_many(error) from error

    def branches(self, function: Function) -> tuple[int, Function, Function]:
        """Return the first variable of a function that is not constant, and the function where this is false and where it is true."""
        if function.negated:
            return int(str(function.var)), ~function.low, ~function.high
        return int(str(function.var)), function.low, function.high

    def fold(self, function: Function, known: MutableMapping[Function, _Value], combine: Callable[[int, _Value, _Value], _Value]) -> _Value:
        """Return a value that follows from those of the two branches, computed once a node; without recursion, however deep.

        Args:
            known: values of functions, at least of false and true; gets those of all functions below.
            combine: a variable, and the values where it is false and where it is true.
        """
        waiting = [function]
        while waiting:
            if waiting[-1] in known:
                waiting.pop()
                continue
            variable, low, high = self.branches(waiting[-1])
            missing = [each for each in (low, high) if each not in known]
            if missing:
                waiting += missing
            else:
                known[waiting.pop()] = combine(variable, known[low], known[high])
        return known[function]

    def probability(self, function: Function, chances: Mapping[int, float]) -> float:
        """Return how probable the function is where each variable is true with its chance, independently; 1 for variables without one."""

        def weighed(variable: int, low: float, high: float) -> float:
            chance = chances.get(variable, 1.0)
            return (1.0 - chance) * low + chance * high

        return self.fold(function, {self.false: 0.0, self.true: 1.0}, weighed)

    def copied(self, functions: Iterable[Function], into: Diagrams) -> Iterator[Function]:
        """Yield the functions made anew elsewhere, where the variables have been named in the same order (else it takes long)."""
        known = {self.false: into.false, self.true: into.true}

        def made(variable: int, low: Function, high: Function) -> Function:
            chosen = into.and_(into.variable(variable), high)
            return into.or_(chosen, into.minus(low, into.variable(variable)))

        for function in functions:
            yield self.fold(function, known, made)

    def keep_within_limit(self, function: Function) -> None:
        """Say that a function is new and kept. Raises TooManyNodes where all of them together have more nodes than allowed.

        Nodes are counted only when the new functions alone could be too many: counting walks through all there are.
        """
        try:
            self._grown += function.dag_size
        except RecursionError as error:
            raise self._too_many(error) from error
        self._library.tidy()
        if self._counted + self._grown > self._limit and self.node_count > self._limit:
            raise TooManyNodes(f"The provenance needs more than {self._limit} nodes.")

    @property
    def node_count(self) -> int:
        """How many nodes all functions have together that something refers to."""
        self._counted, self._grown = self._library.live_nodes(), 0
        return self._counted

    def nodes_of(self, functions: Sequence[Function]) -> int:
        """Return how many nodes some functions have together, the constant among them."""
        return self._library.shared_nodes(functions)

    @property
    def node_bytes(self) -> int:
        """About the memory of one node."""
        return self._library.node_bytes

    @property
    def variable_bytes(self) -> int:
        """About the memory of all variables."""
        return len(self._variables) * self._library.variable_bytes

    def _too_many(self, error: Exception) -> Exception:
        """Return what a failed operation means: a full table, or a diagram deeper than Python's stack."""
        if isinstance(error, ValueError) and "NULL" not in str(error):
            return error
        return TooManyNodes(f"One operation on provenance needs more than the {self._limit} nodes that are allowed, or is too deep.")
