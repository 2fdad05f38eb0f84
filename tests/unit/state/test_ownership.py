"""The lock of a relation: who waits for it can be cancelled, and that costs nobody else anything."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from imp_driver.errors import CANCELLED, OperationalError
from imp_driver.state.ownership import Ownership
from imp_driver.values.cancel import CancellationToken

PATIENT = 30.0


class _Waiting(CancellationToken):
    """Says when its run has begun to wait."""

    def __init__(self) -> None:
        super().__init__("query")
        self.began = threading.Event()

    def wait_for(self, condition: threading.Condition, predicate: object) -> None:
        def asked() -> bool:
            # Asked under the condition: who is told of it cannot notify before the wait.
            self.began.set()
            return bool(predicate())  # type: ignore[operator]

        super().wait_for(condition, asked)


class _Waiter(threading.Thread):
    """Holds a lock once it is free; ``ended`` says how that ended."""

    def __init__(self, ownership: Ownership) -> None:
        super().__init__()
        self.token = _Waiting()
        self.ended: list[object] = []
        self._ownership = ownership
        self.start()
        assert self.token.began.wait(PATIENT)

    def run(self) -> None:
        try:
            with self._ownership.held(self.token):
                self.ended.append("held")
        except OperationalError as error:
            self.ended.append((error.error_class, error.query_id))


@contextmanager
def _held_by_another(ownership: Ownership) -> Iterator[threading.Event]:
    """Hold a lock in another thread, until the event is set or the block ends."""
    holds, done = threading.Event(), threading.Event()

    def hold() -> None:
        with ownership.held():
            holds.set()
            done.wait(PATIENT)

    thread = threading.Thread(target=hold)
    thread.start()
    assert holds.wait(PATIENT)
    try:
        yield done
    finally:
        done.set()
        thread.join(PATIENT)


def test_a_wait_ends_when_its_run_is_cancelled_and_the_holder_goes_on() -> None:
    ownership = Ownership()
    with _held_by_another(ownership) as done:
        waiter = _Waiter(ownership)
        waiter.token.cancel()
        waiter.join(PATIENT)
        assert waiter.ended == [(CANCELLED, "query")]
        with ownership.held_if_free() as is_held:
            assert not is_held
        done.set()
    with ownership.held_if_free() as is_held:
        assert is_held


def test_a_wait_ends_with_the_interrupt_key() -> None:
    ownership, token, has_ended = Ownership(), _Waiting(), threading.Event()
    heard: list[int] = []

    def hear(number: int, _: object) -> None:
        heard.append(number)
        if len(heard) == 1:
            raise KeyboardInterrupt

    def interrupt() -> None:
        assert token.began.wait(PATIENT)
        # Python does not hear a signal that comes just before it blocks; who presses the key presses it again.
        while not has_ended.wait(0.05):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    # A shell lets what it runs in the background ignore the key.
    before = signal.signal(signal.SIGINT, hear)
    try:
        with _held_by_another(ownership):
            thread.start()
            with pytest.raises(KeyboardInterrupt), ownership.held(token):
                raise AssertionError("another thread holds it")
    finally:
        has_ended.set()
        thread.join(PATIENT)
        signal.signal(signal.SIGINT, before)
    with ownership.held_if_free() as is_held:
        assert is_held


def test_a_waiter_that_is_cancelled_takes_no_wake_up_from_another() -> None:
    ownership = Ownership()
    for _ in range(50):
        with _held_by_another(ownership) as done:
            first, second = _Waiter(ownership), _Waiter(ownership)
            done.set()
            first.token.cancel()
            for each in (first, second):
                each.join(PATIENT)
        assert second.ended == ["held"]
        assert first.ended in (["held"], [(CANCELLED, "query")])


def test_its_holder_may_enter_again() -> None:
    ownership = Ownership()
    with ownership.held():
        with ownership.held(), ownership.held_if_free() as is_held:
            assert is_held
        waiter = _Waiter(ownership)
        assert waiter.ended == []
    waiter.join(PATIENT)
    assert waiter.ended == ["held"]


def test_a_cancelled_run_does_not_begin_to_wait() -> None:
    token = CancellationToken("query")
    token.cancel()
    with pytest.raises(OperationalError) as caught, Ownership().held(token):
        raise AssertionError("it was cancelled")
    assert caught.value.error_class == CANCELLED


@pytest.mark.parametrize("number", range(1, 20))
def test_wherever_the_interrupt_key_is_pressed_the_lock_is_free_afterwards(number: int) -> None:
    """Python raises the interruption where a function begins."""
    ownership, token, left = Ownership(), CancellationToken(), [number]

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if not frame.f_code.co_filename.endswith(("ownership.py", "cancel.py", "threading.py", "contextlib.py")):
            return None
        left[0] -= 1
        if left[0] == 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with ownership.held(token):
            pass
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    assert (ownership._owner, ownership._depth) == (None, 0)
    with ownership.held_if_free() as is_held:
        assert is_held
