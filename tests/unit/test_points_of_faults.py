"""Functions at which the tests of faults kill a process still have the names that are written there."""

from __future__ import annotations

from functools import reduce
from importlib import import_module

import pytest

from tests.faults import refreshing, scenario

POINTS = (*scenario.POINTS, *scenario.BUCKET_POINTS, *refreshing.POINTS)
CALLED = {(point.module, point.name) for point in POINTS if point.module != "imp_driver."}


@pytest.mark.parametrize(("module", "name"), sorted(CALLED))
def test_a_function_is_there(module: str, name: str) -> None:
    assert callable(reduce(getattr, name.split("."), import_module(module)))
