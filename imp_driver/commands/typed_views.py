"""A new view as the catalog is told of it: its query in SQL, without what expires of its tables, and with the types of a recursion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

from imp_driver.errors import NotSupportedError, ProgrammingError
from imp_driver.parse.expiry import Expiry, with_expiries
from imp_driver.parse.statement import check_query, parse
from imp_driver.parse.views import NewView
from imp_driver.plan.recursive_form import is_recursive, unrolled_text
from imp_driver.ports import Session
from imp_driver.provenance.library import check_installed
from imp_driver.values.execution import Execution
from imp_driver.values.quoting import qualified
from imp_driver.values.refusal import Refused


def typed_view(wanted: NewView, session: Session, execution: Execution, in_sql: Callable[[str], str]) -> NewView:
    """Return a new view with what expires of its tables in its query, and with what the catalog needs to know of that.

    Raises ProgrammingError where it is no query, or nothing can expire so; NotSupportedError for SPARQL that SQL cannot tell.

    Args:
        in_sql: translates a query in SPARQL.
    """
    if wanted.sparql:
        wanted = replace(wanted, query=in_sql(wanted.sparql))
    check_query(wanted.query, "What follows AS in a view")

    def kind_of(expiry: Expiry) -> pa.DataType:
        asked = f"SELECT {qualified((expiry.column,))} FROM {qualified(expiry.table)}"
        return session.describe(execution.of(asked)).schema.field(0).type

    wanted = replace(wanted, query=with_expiries(wanted.query, wanted.expiries, kind_of), expiries=())
    if wanted.has_provenance and not is_recursive(parse(wanted.query).tree):
        raise ProgrammingError("WITH PROVENANCE is for views whose own query is WITH RECURSIVE .. UNION.")
    if wanted.has_provenance:
        check_installed()
    try:
        return replace(wanted, typed=unrolled_text(wanted.query)) if is_recursive(parse(wanted.query).tree) else wanted
    except Refused as refused:
        raise NotSupportedError(f"{qualified(wanted.name)} is not made: {refused.grounds.told}.") from None
