"""Which columns of tables were seen to be unique, at which versions: what is seen once a version need not be asked again."""

from __future__ import annotations

from imp_driver.values.bounded_cache import BoundedCache
from imp_driver.values.tables import TableSnapshot

_MOST = 1_000


class UniqueKeys:
    """Of one warehouse; the newest version that was looked at, by columns. Safe to use from several threads."""

    def __init__(self) -> None:
        self._seen: BoundedCache[tuple[str, str, tuple[str, ...]], tuple[int, bool]] = BoundedCache(_MOST)

    def note(self, snapshot: TableSnapshot, columns: tuple[str, ...], *, is_unique: bool) -> None:
        """Learn whether no two rows of a version have the same values, none of which is NULL."""
        self._seen[snapshot.location, snapshot.table_id, columns] = (snapshot.version, is_unique)

    def are_unique(self, snapshot: TableSnapshot, columns: tuple[str, ...]) -> bool | None:
        """Say what was seen of columns at a version; None where nobody has looked."""
        version, is_unique = self._seen.get((snapshot.location, snapshot.table_id, columns)) or (None, False)
        return is_unique if version == snapshot.version else None
