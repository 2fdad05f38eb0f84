"""The text form of the counters, read back by Prometheus' own parser."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from imp_driver.observe.exposition import exposition
from imp_driver.observe.metrics import BUCKETS, FAMILIES, Family, FamilyKind, Metrics, Snapshot


def _samples(text: str) -> list[Sample]:
    return [sample for family in text_string_to_metric_families(text) for sample in family.samples]


def test_counters_and_gauges_come_back_with_their_labels() -> None:
    metrics = Metrics()
    metrics.count("imp_decisions_total", "MAINTAINED", "FILTERED", amount=3)
    metrics.count("imp_skipped_bytes_total", amount=1 << 53)
    metrics.read_gauges("store", lambda: {"imp_state_bytes": 12.5})
    text = exposition({"/a": metrics.snapshot(), "/b": Metrics().snapshot()})
    assert {(each.name, tuple(each.labels.items()), each.value) for each in _samples(text)} == {
        ("imp_decisions_total", (("warehouse", "/a"), ("decision", "MAINTAINED"), ("reason", "FILTERED")), 3.0),
        ("imp_skipped_bytes_total", (("warehouse", "/a"),), float(1 << 53)),
        ("imp_state_bytes", (("warehouse", "/a"),), 12.5),
        ("imp_connections", (("warehouse", "/a"),), 0.0),
        ("imp_connections", (("warehouse", "/b"),), 0.0),
    }


@pytest.mark.parametrize("warehouse", ["/plain", 'a "quoted" one', "back\\slash", "two\nlines", "\\n", 'end\\"', "ä{b=c},d"])
def test_any_folder_name_is_a_label(warehouse: str) -> None:
    (sample,) = _samples(exposition({warehouse: Metrics().snapshot()}))
    assert sample.labels == {"warehouse": warehouse}


def test_buckets_are_cumulative_and_end_with_all() -> None:
    metrics = Metrics()
    seconds = (0.0, BUCKETS[0], BUCKETS[0] * 1.01, BUCKETS[-1], BUCKETS[-1] + 1)
    for each in seconds:
        metrics.observe("imp_stage_seconds", each, "parse")
    metrics.observe("imp_stage_seconds", 0.2, "execute")
    samples = [each for each in _samples(exposition({"w": metrics.snapshot()})) if each.labels.get("stage") == "parse"]
    buckets = {each.labels["le"]: each.value for each in samples if each.name.endswith("_bucket")}
    assert [float(bound) for bound in buckets] == [*BUCKETS, float("inf")]
    assert (buckets["0.001"], buckets["0.0025"], buckets["300"], buckets["+Inf"]) == (2, 3, 4, 5)
    assert [each.value for each in samples if each.name.endswith("_count")] == [5]
    assert [each.value for each in samples if each.name.endswith("_sum")] == [pytest.approx(sum(seconds))]


def test_every_family_is_described_once_however_many_warehouses_there_are() -> None:
    metrics = Metrics()
    metrics.read_gauges("store", lambda: {family.name: 1 for family in FAMILIES if family.kind is FamilyKind.GAUGE})
    for family in FAMILIES:
        if family.kind is FamilyKind.COUNTER:
            metrics.count(family.name, *family.labels)
        elif family.kind is FamilyKind.HISTOGRAM:
            metrics.observe(family.name, 1.0, *family.labels)
    text = exposition({"/a": metrics.snapshot(), "/b": metrics.snapshot()})
    found = {family.name: (family.type, family.documentation) for family in text_string_to_metric_families(text)}
    # The parser takes the suffix off the name of a counter.
    assert found == {family.name.removesuffix("_total"): (family.kind.value, family.meaning) for family in FAMILIES}
    assert [text.count(f"# TYPE {family.name} ") for family in FAMILIES] == [1] * len(FAMILIES)
    assert text.endswith("\n")


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_names_follow_the_conventions(family: Family) -> None:
    assert family.name.startswith("imp_")
    assert family.name.endswith("_total") is (family.kind is FamilyKind.COUNTER)
    assert family.name.endswith("_seconds") is (family.kind is FamilyKind.HISTOGRAM)


def test_nothing_counted_is_an_empty_text() -> None:
    assert exposition({"w": Snapshot()}) == exposition({}) == ""
