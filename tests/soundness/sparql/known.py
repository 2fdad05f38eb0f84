"""Tests of the suites that are not passed, and judges that err, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class Reason(Enum):
    """Why a test is not passed."""

    NOT_SUPPORTED = "the driver refuses it"


KNOWN: Mapping[str, Reason] = {}

JUDGE_ERRS: Mapping[tuple[str, str], str] = {}
"""Judges that tell what the suite expects over all triples of a test, but not what the recommendation says over some of them."""
