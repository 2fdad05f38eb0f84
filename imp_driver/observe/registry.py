"""The counters of every warehouse that this process has opened."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from imp_driver.observe.exposition import exposition
from imp_driver.observe.metric_files import MetricFile, folder_in
from imp_driver.observe.metrics import Metrics

SESSION = "session"
"""Label in place of a warehouse's folder: sessions of the application, all of them together."""
_lock = threading.Lock()


class Observer:
    """Counters of one warehouse for all its connections in this process, and their file where there is a folder."""

    def __init__(self, warehouse: Path | None) -> None:
        self.metrics = Metrics()
        self._file = None if warehouse is None else MetricFile(folder_in(warehouse), self.metrics)
        self._lock = threading.Lock()

    def connect(self, source: str, read_gauges: Callable[[], Mapping[str, float]]) -> None:
        """Count a connection; ``source`` names whatever the gauges are read from."""
        with self._lock:
            self.metrics.read_gauges(source, read_gauges)
            if self.metrics.connected(1) == 1 and self._file is not None:
                self._file.open()

    def disconnect(self) -> None:
        """Count a connection off; the last one writes."""
        with self._lock:
            if self.metrics.connected(-1) == 0 and self._file is not None:
                self._file.close()

    def write_now_and_then(self) -> None:
        if self._file is not None:
            self._file.write_now_and_then()


_observers: dict[str, Observer] = {}


def observer_of(warehouse: Path | None) -> Observer:
    """Return the one of a warehouse folder; None for sessions of the application."""
    with _lock:
        return _observers.setdefault(SESSION if warehouse is None else str(warehouse), Observer(warehouse))


def metrics() -> str:
    """Return the counters of this process in the text form of Prometheus, ready for an HTTP endpoint of the application.

    The content type is ``text/plain; version=0.0.4; charset=utf-8``. A process that has opened no warehouse has none.
    """
    with _lock:
        observers = dict(_observers)
    return exposition({warehouse: observer.metrics.snapshot() for warehouse, observer in observers.items()})
