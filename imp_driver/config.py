"""Options of a connection: one frozen value, made from keyword arguments or an ``imp://`` URL."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from imp_driver.errors import InterfaceError, NotSupportedError


class SketchMode(Enum):
    """off: never sketch. lazy: maintain before use. eager: lazy, and maintain in the background what was used lately.
    shadow: lazy, and run the plain query too and raise on any difference.
    """

    OFF = "off"
    LAZY = "lazy"
    EAGER = "eager"
    SHADOW = "shadow"


class Policy(Enum):
    """auto: bring a sketch up to date when that is estimated to cost less than it saves. incremental: whenever it can be."""

    AUTO = "auto"
    INCREMENTAL = "incremental"


@dataclass(frozen=True, slots=True)
class Options:
    """What a connection was asked for.

    Attributes:
        warehouse: folder of the embedded warehouse; None when the application brings its own session.
        schema: current schema of the connection.
        sketch: how sketches are used.
        policy: when sketches are brought up to date; in shadow mode, which is about rows and not about time, always as incremental.
        sketch_guard: share (0 to 1) of the queries with a sketch that run plain as well; a template that differs is disabled.
        eager_batch: changed rows that wait before sketch=eager maintains in the background; None: by measured cost.
        fragments: ranges per sketched attribute at most.
        maximum_runs: ranges conjoined to a query at most (measured, docs/how-it-works.md).
        memory: bytes of operator state that all templates of a warehouse may hold together.
        snapshot: moment (seconds since 1970) whose versions the connection reads, and then it cannot write; None: the newest.
        store: where sketches outlive the process: a folder or URL, or ``off``; ``auto`` is ``_imp/store`` in the embedded warehouse.
        cores: threads of the embedded Spark.
        driver_memory: heap of the embedded Spark, in Spark's notation; only the first connection of a process can set it.
        trace_query_text: whether OpenTelemetry spans have the text of statements, with the constants in it.
    """

    warehouse: str | None = None
    schema: str | None = None
    sketch: SketchMode = SketchMode.LAZY
    policy: Policy = Policy.AUTO
    sketch_guard: float = 0.0
    eager_batch: int | None = None
    fragments: int = 10_000
    maximum_runs: int = 40
    memory: int = 1 << 30
    store: str = "auto"
    snapshot: float | None = None
    cores: int | None = None
    driver_memory: str = "4g"
    trace_query_text: bool = False

    def with_values(self, values: Mapping[str, Any]) -> Options:
        """Return a copy with the named values read from text or Python.

        Raises:
            InterfaceError: an option is unknown or its value cannot be read.
        """
        known = {field.name for field in fields(self)}
        changed: dict[str, Any] = {}
        for name, value in values.items():
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise InterfaceError(f"Unknown option {name!r}.{hint} Known options: {', '.join(sorted(known))}.")
            changed[name] = _read(name, value)
        return replace(self, **changed)


_POSITIVE = {"fragments", "maximum_runs", "memory", "cores", "eager_batch"}


def _read(name: str, value: Any) -> Any:
    if value is None or (name == "eager_batch" and value == "auto"):
        return None
    if name == "sketch":
        return read_mode(value)
    if name == "snapshot":
        return _read_moment(value)
    if name == "policy":
        return _read_policy(value)
    if name == "sketch_guard":
        return _read_share(name, value)
    if name == "trace_query_text":
        return _read_switch(name, value)
    if name in _POSITIVE:
        try:
            number = int(value)
        except (TypeError, ValueError):
            number = 0
        if number <= 0:
            raise InterfaceError(f"Option {name!r} must be a whole number above 0, not {value!r}.")
        return number
    return str(value)


def _read_share(name: str, value: Any) -> float:
    try:
        share = float(value)
    except (TypeError, ValueError):
        share = -1.0
    if not 0.0 <= share <= 1.0:
        raise InterfaceError(f"Option {name!r} must be a number from 0 to 1, not {value!r}.")
    return share


def _read_switch(name: str, value: Any) -> bool:
    known = {"true": True, "1": True, "false": False, "0": False}.get(str(value).lower())
    if known is None:
        raise InterfaceError(f"Option {name!r} must be true or false, not {value!r}.")
    return known


def read_mode(value: Any) -> SketchMode:
    """Return a mode from its name. Raises InterfaceError."""
    if isinstance(value, SketchMode):
        return value
    try:
        return SketchMode(str(value).lower())
    except ValueError:
        raise InterfaceError(f"Option 'sketch' must be off, lazy, eager or shadow, not {value!r}.") from None


def _read_moment(value: Any) -> float:
    """Read an ISO time, in UTC where it has no offset, or a datetime."""
    try:
        # In a URL the plus sign of an offset is a blank.
        text = re.sub(r" (?=\d\d:?\d\d$)", "+", str(value).strip()) if "T" in str(value) else str(value).strip()
        found = value if isinstance(value, datetime) else datetime.fromisoformat(text)
    except ValueError:
        raise InterfaceError(f"Option 'snapshot' must be a time such as 2026-11-22T08:00:00+00:00, not {value!r}.") from None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


def _read_policy(value: Any) -> Policy:
    try:
        return value if isinstance(value, Policy) else Policy(str(value).lower())
    except ValueError:
        raise InterfaceError(f"Option 'policy' must be auto or incremental, not {value!r}.") from None


def options_from_url(url: str) -> Options:
    """Read ``imp:///folder?sketch=lazy``; three slashes give a folder relative to the working directory, four an absolute one.

    Raises:
        InterfaceError: the URL is not of this form.
        NotSupportedError: ``imp+connect://`` and other deployments that are not there yet.
    """
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InterfaceError(f"Cannot read the URL {url!r}: {error}. Expected imp:///folder?sketch=lazy.") from error
    if parts.scheme == "imp+connect":
        raise NotSupportedError("imp+connect:// (Spark Connect) is not there yet; use imp:///folder or connect(session=spark).")
    if parts.scheme not in ("imp", "imp+spark"):
        raise InterfaceError(f"Cannot read the URL {url!r}: the scheme must be imp, as in imp:///folder?sketch=lazy.")
    if parts.netloc:
        raise InterfaceError(
            f"Cannot read the URL {url!r}: an embedded warehouse has no host. Write imp:///folder (relative) or imp:////folder (absolute)."
        )
    folder = unquote(parts.path[1:]) if parts.path else ""
    if not folder:
        raise InterfaceError(f"The URL {url!r} names no warehouse folder. Expected imp:///folder?sketch=lazy.")
    return Options(warehouse=folder).with_values(dict(parse_qsl(parts.query, keep_blank_values=True)))
