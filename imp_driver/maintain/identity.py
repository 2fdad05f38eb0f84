"""What a maintained relation is: hashes of everything that it depends on, the same in every process."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from imp_driver.capture.instrument import qualified, rows_sql
from imp_driver.maintain.request import Request
from imp_driver.plan.bind import BoundBlock
from imp_driver.state.values import Identity


def lifted(request: Request) -> Request | None:
    """Return the request about the state that does not depend on conditions on keys, None where it has none."""
    return None if request.lifted is None else replace(request, block=request.lifted, lifted=None, is_lifted=True)


def admission_name(request: Request) -> str:
    """Return what captures of a template are counted under."""
    return f"{request.template.identifier} {request.fragments}{' lifted' if request.is_lifted else ''}"


def shape_name(request: Request) -> str:
    """Return what captures of texts are counted under that differ in constants alone, wherever these stand."""
    return _hashed(request.shape, _tables(request), request.settings)


def state_key(request: Request) -> str:
    """Hash everything that the state depends on; what cuts it is not among that."""
    return _hashed(family_of(request), request.block.where_sql)


def family_of(request: Request) -> str:
    """Hash everything that the state depends on but its row conditions; constants above the groups are not among it."""
    aggregates = [(str(each.specification), each.argument_sql) for each in request.block.aggregates]
    return _hashed(prefix_of(request), aggregates)


def prefix_of(request: Request) -> str:
    """Hash what states of several templates may have in common: the groups, whatever is asked of them."""
    return _hashed(_tables(request), _rows(request.block), request.block.keys_sql, request.settings)


def source_of(request: Request) -> str:
    """Hash what states of several groups may have in common: the rows below their conditions, whichever of their columns are read."""
    return _hashed(_tables(request), _rows(replace(request.block, columns=())), request.settings)


def _tables(request: Request) -> list[tuple[tuple[str, ...], str, str]]:
    return [(name, snapshot.location, snapshot.table_id) for name, snapshot in request.snapshots.items()]


def _rows(block: BoundBlock) -> str:
    return rows_sql(block, lambda scan: qualified(scan.table))


def _hashed(*parts: object) -> str:
    return hashlib.blake2s(repr(parts).encode(), digest_size=16).hexdigest()


def identity_of(request: Request) -> Identity:
    """Return what the relation of a block is."""
    scan = request.cuts_of(request.names[0])[0].scan if request.names else request.analysis.scans[0]
    return Identity(
        key=state_key(request),
        template=request.template.identifier,
        template_text=request.template.text,
        table=".".join(scan.table),
        location=request.snapshots[scan.table].location,
        family=family_of(request),
        prefix=prefix_of(request),
        source=source_of(request),
    )
