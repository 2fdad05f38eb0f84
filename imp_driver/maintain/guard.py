"""The runtime guard: a share of the queries with a sketch runs plain as well; a template that ever differs is not sketched again."""

from __future__ import annotations

import logging
import threading

_LOG = logging.getLogger("imp_driver.observe")


class Guard:
    """Counts what was checked and remembers the templates that differed. Shared by all connections to one warehouse."""

    def __init__(self) -> None:
        self.checked = 0
        self._disabled: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def differences(self) -> int:
        return len(self._disabled)

    def problem(self, template: str) -> str | None:
        """Return why a template is not sketched any more; None while it is."""
        return self._disabled.get(template)

    def record(self, templates: tuple[str, ...], difference: str | None) -> None:
        """Record one comparison; after a difference, which is kept for reports, all templates of the query are disabled."""
        with self._lock:
            self.checked += 1
            if difference is not None:
                self._disabled |= dict.fromkeys(templates, difference)
        if difference is not None:
            # The difference quotes rows; it is in the detail of the report.
            _LOG.error("A query gave other rows with its sketch than without. Templates that are disabled: %s", ", ".join(templates))
