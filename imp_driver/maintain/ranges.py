"""The ranges that the files of a table give to a cut."""

from __future__ import annotations

from imp_driver.capture.buckets import file_partition
from imp_driver.maintain.request import Request
from imp_driver.values.cuts import CutName
from imp_driver.values.ranges import RangePartition
from imp_driver.values.types import arrow_type


def partition_of_files(request: Request, name: CutName, most: int) -> RangePartition | None:
    """Return at most ``most`` ranges of a cut's attribute; None where the files' statistics tell no two apart."""
    kind = arrow_type(type_of(request, name))
    if kind is None:
        return None
    cut = request.cuts_of(name)[0]
    return file_partition(request.snapshots[cut.scan.table].files, cut.attribute.name, kind, most)


def type_of(request: Request, name: CutName) -> str:
    """Return Delta's name of the type of a cut's attribute; empty where it has none."""
    return request.cuts_of(name)[0].attribute.type_name or ""
