"""Counters in the text form of Prometheus, version 0.0.4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from imp_driver.observe.metrics import BUCKETS, FAMILIES, Distribution, Family, FamilyKind, Snapshot

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition(by_warehouse: Mapping[str, Snapshot]) -> str:
    """Return every family with its HELP and TYPE, and the samples of each warehouse; a family without a sample is left out."""
    lines: list[str] = []
    for family in FAMILIES:
        samples = [line for warehouse, snapshot in by_warehouse.items() for line in _samples(family, warehouse, snapshot)]
        if samples:
            lines += [f"# HELP {family.name} {_escaped(family.meaning)}", f"# TYPE {family.name} {family.kind.value}", *samples]
    return "".join(f"{line}\n" for line in lines)


def _samples(family: Family, warehouse: str, snapshot: Snapshot) -> Iterator[str]:
    if family.kind is FamilyKind.HISTOGRAM:
        for key in sorted(key for key in snapshot.distributions if key[0] == family.name):
            yield from _distribution(family, (("warehouse", warehouse), *_labels(family, key[1])), snapshot.distributions[key])
        return
    values = snapshot.counters if family.kind is FamilyKind.COUNTER else snapshot.gauges
    for key in sorted(key for key in values if key[0] == family.name):
        yield f"{family.name}{_braced((('warehouse', warehouse), *_labels(family, key[1])))} {_number(values[key])}"


def _distribution(family: Family, labels: tuple[tuple[str, str], ...], distribution: Distribution) -> Iterator[str]:
    cumulative = 0
    for bound, count in zip((*map(_number, BUCKETS), "+Inf"), distribution.counts, strict=True):
        cumulative += count
        yield f"{family.name}_bucket{_braced((*labels, ('le', bound)))} {cumulative}"
    yield f"{family.name}_sum{_braced(labels)} {_number(distribution.total)}"
    yield f"{family.name}_count{_braced(labels)} {cumulative}"


def _labels(family: Family, values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(zip(family.labels, values, strict=True))


def _braced(labels: tuple[tuple[str, str], ...]) -> str:
    quoted = (f'{name}="{_escaped(value).replace(chr(34), chr(92) + chr(34))}"' for name, value in labels)
    return f"{{{','.join(quoted)}}}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
