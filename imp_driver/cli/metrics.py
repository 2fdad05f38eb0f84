"""``imp metrics URL``: the counters of a warehouse in the text form of Prometheus, while an application has it open or after."""

from __future__ import annotations

import sys
from pathlib import Path

from imp_driver.errors import OperationalError
from imp_driver.observe.exposition import exposition
from imp_driver.observe.metric_files import folder_in, read_counters
from imp_driver.url import options_from_url


def run(url: str) -> int:
    """Print what every process has counted together; return 0.

    Raises:
        InterfaceError, NotSupportedError: the URL names no warehouse folder.
        OperationalError: there is no warehouse, or its counters cannot be read.
    """
    warehouse = Path(str(options_from_url(url).warehouse)).expanduser().resolve()
    if not (warehouse / "_imp").is_dir():
        raise OperationalError(f"There is no warehouse in {warehouse}; the first connection to it makes one.")
    try:
        counted = read_counters(folder_in(warehouse))
    except FileNotFoundError:
        print("imp: nothing is counted in this warehouse yet; connections count as they run statements.", file=sys.stderr)
        return 0
    except OSError as error:
        raise OperationalError(f"The counters of {warehouse} cannot be read: {error.strerror}.") from error
    sys.stdout.write(exposition({str(warehouse): counted}))
    return 0
