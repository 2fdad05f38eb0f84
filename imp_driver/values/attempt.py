"""One way to serve a query, tried: what it finds, or why the query is to be served otherwise. No failure of it reaches the application."""

from __future__ import annotations

import logging
from collections.abc import Callable

from imp_driver.errors import Error
from imp_driver.reasons import Reason
from imp_driver.values.cancel import CancellationToken
from imp_driver.values.failures import described
from imp_driver.values.refusal import FoundT, Grounds, Refused

_LOG = logging.getLogger("imp_driver")


def tried(attempt: Callable[[], FoundT], token: CancellationToken, *, is_bare: bool = False) -> FoundT | Grounds:
    """Return what an attempt finds, or why it finds nothing.

    Args:
        token: of the execution; once it is cancelled, every failure but a refusal is passed on.
        is_bare: failures that are no errors of this driver are passed on.
    """
    try:
        return attempt()
    except Refused as refused:
        return refused.grounds
    except Exception as error:
        if token.is_cancelled or (is_bare and not isinstance(error, Error)):
            raise
        _LOG.warning("The sketch could not be used, the query runs unchanged: %s", described(error))
        return Grounds(Reason.INTERNAL, f"{type(error).__name__}: {error}".split("\n", 1)[0])
