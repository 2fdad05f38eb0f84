"""Settings under which the analysis may read a query: those that give names and positions another meaning are refused."""

from __future__ import annotations

from imp_driver.reasons import Reason
from imp_driver.values.refusal import Refused
from imp_driver.values.settings import ASSUMED


def check_settings(settings: tuple[tuple[str, str], ...]) -> None:
    """Check that the session reads names and positions as the analysis does.

    Raises:
        Refused: a setting differs.
    """
    for name, value in settings:
        if name in ASSUMED and value not in (ASSUMED[name], "None"):
            raise Refused(Reason.UNSUPPORTED_SETTING, f"{name} = {value}")
