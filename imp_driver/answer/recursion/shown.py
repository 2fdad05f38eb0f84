"""Tables at the versions of one reading, as the rounds and questions of a recursion read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from imp_driver.plan.nodes import Scan
from imp_driver.ports import KeptRows
from imp_driver.values.quoting import qualified
from imp_driver.values.tables import at_version


@dataclass(slots=True, eq=False)
class ShownTables:
    """Tells where a scan is read: its table at a version, which the engine looks up once instead of in each of many queries.

    Attributes:
        versions: of the tables, by the names of their scans.
        names: new names.
    """

    kept: KeptRows
    names: Iterator[str]
    versions: Mapping[tuple[str, ...], int]
    _shown: dict[tuple[str, ...], str] = field(default_factory=dict)

    def __call__(self, scan: Scan) -> str:
        """Return a name. Raises an Error of this driver."""
        found = self._shown.get(scan.table)
        if found is None:
            found = next(self.names)
            self.kept.show(found, f"SELECT * FROM {self.versioned(scan)}")
            self._shown[scan.table] = found
        return found

    def versioned(self, scan: Scan) -> str:
        """Return the same in SQL that needs no name of the engine's."""
        return at_version(qualified(scan.table), self.versions[scan.table])

    def drop(self) -> None:
        """Let the names go. Raises nothing."""
        for name in self._shown.values():
            self.kept.drop(name)
        self._shown.clear()
