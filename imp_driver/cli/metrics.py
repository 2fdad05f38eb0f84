"""``imp metrics URL``: the counters of a warehouse in the text form of Prometheus, while an application has it open or after."""

from __future__ import annotations

import sys

from imp_driver.cli.warehouse import folder_of
from imp_driver.errors import InterfaceError, OperationalError
from imp_driver.observe.exposition import exposition
from imp_driver.observe.metric_files import folder_in, read_counters


def run(url: str) -> int:
    """Print what every process has counted together; return 0.

    Raises:
        InterfaceError, NotSupportedError: the URL names no warehouse folder.
        OperationalError: there is no warehouse, or its counters cannot be read.
    """
    warehouse = folder_of(url)
    if warehouse is None:
        raise InterfaceError("Counters are those of an embedded warehouse (imp:///folder); over Spark Connect each process has its own.")
    try:
        counted = read_counters(folder_in(warehouse))
    except FileNotFoundError:
        print("imp: nothing is counted in this warehouse yet; connections count as they run statements.", file=sys.stderr)
        return 0
    except OSError as error:
        raise OperationalError(f"The counters of {warehouse} cannot be read: {error.strerror}.") from error
    sys.stdout.write(exposition({str(warehouse): counted}))
    return 0
