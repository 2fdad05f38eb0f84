"""A background thread lives while connections are open, however these open and close."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from imp_driver.state.worker import Life, Worker

PATIENT = 30.0


class _Beating:
    """A worker whose threads do what they are asked for."""

    def __init__(self) -> None:
        self.condition = threading.Condition()
        self.asked = 0
        self.worker = Worker()
        self.ended: list[bool] = []

    def open(self) -> None:
        self.worker.open(lambda: Life("beating", self._run, self.condition, PATIENT, self.ended.append))

    def _run(self, life: Life) -> None:
        with self.condition:
            while not life.is_over:
                self.asked = 0
                self.condition.notify_all()
                self.condition.wait_for(lambda: life.is_over or self.asked)

    def beats(self) -> bool:
        """Say whether some thread does what is asked."""
        with self.condition:
            self.asked += 1
            self.condition.notify_all()
            return self.condition.wait_for(lambda: not self.asked, PATIENT)


@contextmanager
def _switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def test_it_lives_from_the_first_connection_to_the_last() -> None:
    beating = _Beating()
    assert not beating.worker.is_running
    beating.open()
    beating.open()
    beating.worker.close()
    assert beating.beats()
    beating.worker.close()
    assert (beating.worker.is_running, beating.ended) == (False, [True])
    beating.open()
    assert beating.beats()
    beating.worker.close()


def test_it_lives_while_any_connection_is_open_whatever_others_do_at_that_moment() -> None:
    beating = _Beating()
    found: list[bool] = []

    def open_and_close() -> None:
        for _ in range(100):
            beating.open()
            found.append(beating.beats())
            beating.worker.close()

    with _switching_often():
        threads = [threading.Thread(target=open_and_close) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(4 * PATIENT)
    assert found == [True] * 300
    assert not beating.worker.is_running
