"""One report of several blocks: a block that is cut comes before one that is not, then the one that skips more."""

from __future__ import annotations

from typing import Any

import pytest

from imp_driver.reasons import Reason
from imp_driver.rewrite.summary import report_of


class _Anything:
    """Answers every attribute with the given ones, or with itself."""

    def __init__(self, **values: Any) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        return self._values.get(name, self)


def _part(name: str, is_filter: bool, kept: int, total: int) -> Any:
    coverage = _Anything(files_kept=1, files_total=1, bytes_kept=kept, bytes_total=total)
    relation, sketch = _Anything(identifier=name, identity=_Anything(location="/t")), _Anything(versions={"/t": 1})
    prepared = _Anything(relation=relation, upkeep=_Anything(detail=""), reuse="")
    cut = _Anything(sketch=sketch, cuts=(_Anything(scan=_Anything(table=("t",))),))
    use = _Anything(is_filter=is_filter, runs=1, coverage=coverage, gain=0.5)
    return _Anything(use=use, prepared=prepared, cut=cut, request=_Anything(snapshots={("t",): _Anything(location="/t")}))


@pytest.mark.parametrize(
    ("parts", "order"),
    [
        ([_part("whole", False, 9, 9), _part("rows", True, 9, 9)], ["rows", "whole"]),
        ([_part("little", True, 8, 9), _part("much", True, 1, 9)], ["much", "little"]),
        ([_part("whole", False, 9, 9)], ["whole"]),
    ],
)
def test_order(parts: list[Any], order: list[str]) -> None:
    report = report_of(parts)
    assert [each.sketch_id for each in (report, *report.also)] == order
    assert (report.reason is Reason.FILTERED) == (order != ["whole"])
