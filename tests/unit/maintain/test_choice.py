"""The attribute that a block is cut on is the one by which most bytes of its tables may be skipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from imp_driver.maintain.choice import choose
from imp_driver.maintain.choices import Choices
from imp_driver.maintain.request import Request
from imp_driver.parse.template import Template
from imp_driver.plan.bind import bind
from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused
from imp_driver.values.tables import SchemaColumn, TableSnapshot
from tests.unit.tables import analysis_of

SCHEMA = tuple(SchemaColumn(name, "integer", True) for name in ("g", "h", "x"))
TEXT = "SELECT r.g, s.h, sum(r.x) FROM r JOIN s ON r.x = s.x GROUP BY r.g, s.h HAVING sum(r.x) > 10"


@dataclass(frozen=True, slots=True)
class Files:
    """Files of ``size`` bytes; ``clustered`` is the column that lies in ranges, the others are in every file."""

    number: int
    size: int
    clustered: str = ""

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        return np.full(self.number, self.size)

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        return np.full(self.number, 100)

    def bounds(self, column: str) -> tuple[pa.Array, pa.Array, npt.NDArray[np.int64]]:
        places = np.arange(self.number) * 10
        lower, upper = (places, places + 9) if column == self.clustered else (places * 0, places * 0 + 1000)
        return pa.array(lower, pa.int32()), pa.array(upper, pa.int32()), np.zeros(self.number, np.int64)


def _request(files: Mapping[str, Files], text: str = TEXT, version: int = 0) -> Request:
    analysis = analysis_of(text, SCHEMA)
    snapshots: dict[tuple[str, ...], TableSnapshot] = {
        (name,): TableSnapshot(f"/{name}", name, version, SCHEMA, 100, each) for name, each in files.items()
    }
    return Request(Template("t", "t"), analysis, bind(analysis.block, None, analysis.columns), snapshots, (), 100)


def _chosen(files: Mapping[str, Files], text: str = TEXT) -> str:
    request = _request(files, text)
    (name,) = choose(request)
    assert name.key is not None
    return request.analysis.attribute(name.key)


def test_another_clustering_is_another_choice_once_the_files_are_so() -> None:
    choices, found = Choices(), []
    steps = (("g", 0), ("h", 0), ("h", 1), ("", 2), ("g", 3))
    for clustered, version in steps:
        files = {"r": Files(20, 1000, clustered if clustered == "g" else ""), "s": Files(20, 1000, clustered if clustered == "h" else "")}
        request = _request(files, version=version)
        (name,) = choices.of(request, is_cut=True)
        found.append(request.attribute_of(name))
    # At the same versions nothing is looked at again; what is clustered by nothing keeps its cut.
    assert found == ["g", "g", "h", "h", "g"]


def test_the_large_table_is_cut() -> None:
    assert _chosen({"r": Files(20, 1000, "g"), "s": Files(20, 10, "h")}) == "g"
    assert _chosen({"r": Files(20, 10, "g"), "s": Files(20, 1000, "h")}) == "h"


def test_a_small_table_that_is_clustered_better_does_not_matter() -> None:
    assert _chosen({"r": Files(20, 1000, "g"), "s": Files(200, 10, "h")}) == "g"


def test_a_cut_of_small_tables_alone_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        _chosen({"r": Files(20, 1000), "s": Files(1, 10)}, TEXT.replace("r.g, ", ""))
    assert refused.value.reason is Reason.NOT_CLUSTERED
    assert "small tables" in refused.value.detail


def test_a_table_of_few_files_counts_as_clustered() -> None:
    assert _chosen({"r": Files(1, 1000), "s": Files(1, 10)}) == "g"


def test_without_clustering_the_detail_names_the_remedy() -> None:
    with pytest.raises(Refused) as refused:
        _chosen({"r": Files(20, 1000)}, "SELECT g, sum(x) FROM r GROUP BY g HAVING sum(x) > 10")
    assert "ZORDER BY g" in refused.value.detail


def test_empty_tables_are_captured_at_once() -> None:
    assert _chosen({"r": Files(0, 0), "s": Files(0, 0)}) == "g"
