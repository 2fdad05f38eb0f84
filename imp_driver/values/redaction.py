"""Secrets out of what people read: errors, log records, reports, the repr of options.

A URL may carry a user's password (``scheme://user:password@host``) and secret options (``?token=..``, ``;token=..``). Messages quote URLs
and locations of tables, their own and those that Spark names, so hiding is done once where messages end, not where each one is written.
"""

from __future__ import annotations

import logging
import re
import traceback

HIDDEN = "***"
_SECRET_NAME = r"token|passw|pwd|secret|credential|signature|\bsig\b|\bauth|(?:\b|[_.-]|api|access|account|private|shared)key\b"
_NAMED = re.compile(rf"[\w.-]*(?:{_SECRET_NAME})[\w.-]*", re.IGNORECASE)
_OPTION = re.compile(rf"([?&;]\s*[\w.-]*(?:{_SECRET_NAME})[\w.-]*\s*=)[^&;\s'\"`<>]*", re.IGNORECASE)
_USER = re.compile(r"(?<=://)[^\s'\"`<>]*@")
_BEARER = re.compile(r"(\bBearer\s+)[\w.~+/=-]+", re.IGNORECASE)
_WHOLE_USER = re.compile(r"(?<=://).*@", re.DOTALL)


def is_secret(name: str) -> bool:
    """Say whether an option of this name holds a secret."""
    return _NAMED.fullmatch(name) is not None


def redacted(text: str) -> str:
    """Return text without the users, passwords and secret options of the URLs in it."""
    if "://" in text:
        text = _USER.sub(f"{HIDDEN}@", text)
    if "=" in text:
        text = _OPTION.sub(rf"\g<1>{HIDDEN}", text)
    return _BEARER.sub(rf"\g<1>{HIDDEN}", text)


def shown_url(url: str) -> str:
    """Return the part of a URL that an error may quote: without user and password, and without the values of any option."""
    shown = _WHOLE_USER.sub(f"{HIDDEN}@", url)
    place = re.search(r"[?#;]", shown)
    return shown if place is None else f"{shown[: place.start()]}{place[0]}.."


LOGGERS = ("imp_driver", *(f"imp_driver.{part}" for part in ("advise", "maintain", "observe", "persist", "spark")))
"""Every logger of the package: a filter of one does not see the records of those below it."""


class RedactingFilter(logging.Filter):
    """Rewrites the records of a logger, with the traceback that they carry."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redacted(record.getMessage()), None
        if record.exc_info and record.exc_info[0] is not None:
            record.exc_text = redacted("".join(traceback.format_exception(*record.exc_info)).rstrip("\n"))
        return True
