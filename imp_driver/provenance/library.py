"""The library of binary decision diagrams behind one typed seam: dd's compiled CUDD where it can be imported, else dd in plain Python.

Nothing else imports dd, and this module does so when diagrams are made, not before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from imp_driver.errors import NotSupportedError

_MISSING = "Provenance needs the package dd: pip install 'imp_driver[provenance]'."
_HEADROOM = 4
"""One operation may make this many times as many nodes as are allowed in total before the library itself stops it."""
_MANY_VARIABLES = 1_000
"""After so many new ones the bound on memory is looked at again."""


class LibraryName(StrEnum):
    """CUDD is written in C, PYTHON in Python: ten times slower, but on every platform."""

    CUDD = "cudd"
    PYTHON = "autoref"


class Function(Protocol):
    """A Boolean function of one manager: the root of a reduced ordered diagram. Equal functions are equal objects.

    Edges may be complemented: ``low`` and ``high`` are of the function that is stored, which is the negation of this one if ``negated``.
    """

    @property
    def var(self) -> str | None: ...
    @property
    def level(self) -> int: ...
    @property
    def low(self) -> Function: ...
    @property
    def high(self) -> Function: ...
    @property
    def negated(self) -> bool: ...
    @property
    def support(self) -> Iterable[str]: ...
    @property
    def dag_size(self) -> int: ...
    def __and__(self, other: Function, /) -> Function: ...
    def __or__(self, other: Function, /) -> Function: ...
    def __invert__(self) -> Function: ...


class Manager(Protocol):
    """What both libraries have in common: the functions over variables in the order in which these were declared."""

    @property
    def false(self) -> Function: ...
    @property
    def true(self) -> Function: ...
    def declare(self, *names: str) -> None: ...
    def var(self, name: str, /) -> Function: ...
    def let(self, values: Mapping[str, bool], function: Function, /) -> Function: ...
    def __len__(self) -> int: ...


class Library(Protocol):
    """One manager, and what differs between libraries.

    Attributes:
        node_bytes, variable_bytes: about the memory of a node and of a declared variable.
    """

    @property
    def manager(self) -> Manager: ...
    @property
    def node_bytes(self) -> int: ...
    @property
    def variable_bytes(self) -> int: ...

    def declare(self, name: str) -> None:
        """Add a variable at the end of the order."""

    def live_nodes(self) -> int:
        """Return how many nodes the functions have that something refers to."""

    def shared_nodes(self, functions: Sequence[Function]) -> int:
        """Return how many nodes these functions have together; what they share counts once."""

    def tidy(self) -> None:
        """Free nodes that nothing refers to, where the library does not do so itself and they are many."""


class _Compiled:
    """CUDD, which counts references itself and frees nodes as it needs them."""

    node_bytes = 32
    variable_bytes = 3_500

    def __init__(self, cudd: Any, limit: int) -> None:
        self._cudd = cudd
        # The first sizes are far below dd's, which take 20 MB and a tenth of a second; the tables grow with what they hold.
        manager = cudd.BDD(memory_estimate=1 << 26, initial_cache_size=1 << 12)
        manager.configure(reordering=False, max_cache_hard=max(1 << 18, limit))
        self._configure = manager.configure
        self._most_bytes = (1 << 24) + _HEADROOM * limit * 3 * self.node_bytes
        self._variables = 0
        self.manager: Manager = manager

    def declare(self, name: str) -> None:
        # The only bound that CUDD has within an operation is one on memory, of which variables take a part.
        if not self._variables % _MANY_VARIABLES:
            self._configure(max_memory=self._most_bytes + 3 * self.variable_bytes * (self._variables + _MANY_VARIABLES))
        self._variables += 1
        self.manager.declare(name)

    def live_nodes(self) -> int:
        return len(self.manager)

    def shared_nodes(self, functions: Sequence[Function]) -> int:
        nodes: int = self._cudd.count_nodes(list(functions)) if functions else 0
        return nodes

    def tidy(self) -> None:
        """Nothing to do."""


class _Interpreted:
    """dd in Python, which frees nodes when it is told to."""

    node_bytes = 400
    variable_bytes = 600

    def __init__(self, autoref: Any, bdd: Any, limit: int) -> None:
        self._nodes = _bounded_nodes(bdd, (1 << 16) + _HEADROOM * limit)
        manager = autoref.BDD()
        manager._bdd, manager.vars = self._nodes, self._nodes.vars
        manager.configure(reordering=False)
        self._collect = manager.collect_garbage
        self._live = 0
        self.manager: Manager = manager

    def declare(self, name: str) -> None:
        self.manager.declare(name)

    def live_nodes(self) -> int:
        self._collect()
        self._live = len(self.manager)
        return self._live

    def shared_nodes(self, functions: Sequence[Function]) -> int:
        return len(self._nodes.descendants([function.node for function in functions]))  # type: ignore[attr-defined]

    def tidy(self) -> None:
        if len(self.manager) > 2 * self._live + 10_000:
            self.live_nodes()


def check_installed() -> None:
    """Raise NotSupportedError where no library can be imported."""
    load(None, 1)


def load(name: LibraryName | None, limit: int) -> Library:
    """Return a new manager, of the compiled library if it can be imported and no other one is asked for.

    Args:
        limit: how many nodes are to be allowed; one operation that makes a few times as many fails.

    Raises:
        NotSupportedError: dd, or the library of that name, cannot be imported.
    """
    if name is not LibraryName.PYTHON:
        try:
            from dd import cudd
        except ImportError as error:
            if name is LibraryName.CUDD:
                raise NotSupportedError(f"{_MISSING} Its compiled part dd.cudd cannot be imported here.") from error
        else:
            return _Compiled(cudd, limit)
    try:
        from dd import autoref, bdd
    except ImportError as error:
        raise NotSupportedError(_MISSING) from error
    return _Interpreted(autoref, bdd, limit)


def _bounded_nodes(bdd: Any, most: int) -> Any:
    """Return dd's table of nodes with a bound that is kept before a node is made: dd's own is noticed when the table is wrong already.

    It does not say when it goes that something refers to its nodes: so it is in each circle of references that Python collects, such
    as those of a traceback, where the order in which objects go means nothing.
    """
    made = bdd.BDD.find_or_add

    def find_or_add(nodes: Any, level: int, low: int, high: int) -> int:
        if len(nodes) >= most:
            raise RuntimeError(f"more than {most} nodes")
        number: int = made(nodes, level, low, high)
        return number

    return type("BoundedNodes", (bdd.BDD,), {"find_or_add": find_or_add, "__del__": lambda nodes: None})()
