"""What a maintained relation is: hashes of everything that it depends on, the same in every process."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from imp_driver.capture.instrument import qualified, rows_sql
from imp_driver.maintain.choice import Choice
from imp_driver.maintain.request import Request
from imp_driver.persist.record import StoredChoice
from imp_driver.state.values import Identity


def lifted(request: Request) -> Request | None:
    """Return the request about the state that does not depend on conditions on keys, None where it has none."""
    return None if request.lifted is None else replace(request, block=request.lifted, lifted=None, is_lifted=True)


def admission_name(request: Request) -> str:
    """Return what captures of a template are counted under."""
    return f"{request.template.identifier} {request.fragments}{' lifted' if request.is_lifted else ''}"


def state_key(request: Request, choice: Choice) -> str:
    """Hash everything that the state depends on."""
    return _hashed(family_of(request, choice), request.block.where_sql)


def family_of(request: Request, choice: Choice) -> str:
    """Hash everything that the state depends on but its row conditions; constants above the groups are not among it."""
    aggregates = [(str(each.specification), each.argument_sql) for each in request.block.aggregates]
    return _hashed(prefix_of(request, choice) or _own(request, choice), aggregates)


def prefix_of(request: Request, choice: Choice) -> str:
    """Hash what states of several templates may have in common; empty for a cut on another column, whose proof is the template's own."""
    return "" if choice.key is None else _hashed(choice, *_groups(request))


def _own(request: Request, choice: Choice) -> str:
    return _hashed(request.template.identifier, choice, *_groups(request))


def _groups(request: Request) -> tuple[object, ...]:
    identity = [(name, snapshot.location, snapshot.table_id) for name, snapshot in request.snapshots.items()]
    rows = rows_sql(request.block, lambda scan: qualified(scan.table))
    return identity, rows, request.block.keys_sql, request.settings, request.fragments


def _hashed(*parts: object) -> str:
    return hashlib.blake2s(repr(parts).encode(), digest_size=16).hexdigest()


def identity_of(request: Request, choice: Choice) -> Identity:
    """Return what the relation of a block is."""
    cut = choice.cuts(request)[0]
    return Identity(
        key=state_key(request, choice),
        template=request.template.identifier,
        template_text=request.template.text,
        table=".".join(cut.scan.table),
        location=request.snapshots[cut.scan.table].location,
        attribute=cut.attribute.name,
        family=family_of(request, choice),
        prefix=prefix_of(request, choice),
        choice=StoredChoice(choice.key, choice.place, choice.column),
    )


def choice_of(identity: Identity) -> Choice:
    """Return the choice that a relation was captured for."""
    return Choice(identity.choice.key, identity.choice.place, identity.choice.column)
