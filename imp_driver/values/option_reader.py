"""Texts and values of Python -> values of options (values/options.py)."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from imp_driver.errors import InterfaceError
from imp_driver.values.option_kinds import Floats, Policy, RecursionPlace, RowRules, SketchMode, Terms
from imp_driver.values.redaction import is_secret

DEFAULT_PORT = 15002
"""Port on which a Spark Connect server listens when it was not told otherwise."""
_POSITIVE = {"fragments", "maximum_runs", "memory", "cores", "eager_batch"}


def read_option(name: str, value: Any) -> Any:
    """Return the value of an option, other than ``conf``, from text or Python. Raises InterfaceError."""
    if name == "eager_batch" and value == "auto":
        return None
    if name == "sketch":
        return read_mode(value)
    if name == "snapshot":
        return _read_moment(value)
    if name in _CHOICES:
        return _read_choice(name, value)
    if name in ("sketch_guard", "background_share"):
        return _read_share(name, value, may_be_zero=name == "sketch_guard")
    if name in ("trace_query_text", "answers"):
        return _read_switch(name, value)
    if name in ("use_ssl", "shared_files"):
        return _read_truth(name, value)
    if name == "server":
        return _read_server(str(value))
    if name == "memory" and isinstance(value, str) and (size := _SIZE.fullmatch(value.strip())) is not None:
        value = int(size[1]) << _UNITS[size[2].lower()]
    if name in _POSITIVE:
        try:
            number = 0 if isinstance(value, (bool, float)) else int(value)
        except (TypeError, ValueError):
            number = 0
        if number <= 0:
            more = ", or a size such as 512m or 2g" if name == "memory" else ""
            raise InterfaceError(f"Option {name!r} must be a whole number above 0{more}, not {value!r}.")
        return number
    return _read_text(name, value)


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_MASTER = re.compile(r"local(\[[^\]]+\])?|yarn|(spark|k8s|local-cluster)(://|\[).+")
_OTHER_STORE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_STORES = ("file", "s3", "s3a", "gs", "az", "abfs", "abfss", "wasb", "wasbs", "adl", "hdfs", "memory")
_GRAPH = re.compile(r"(?:(?:`(?:[^`]|``)+`|[^.`\s][^.`]*)(?:\.(?!$)|$)){1,3}")
_SIZE = re.compile(r"([0-9]{1,12})([kmgtKMGT])(?:i?[bB])?")
_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40}
"""Powers of two."""
_MEMORY = re.compile(r"[1-9]\d{0,9}[kmgt]?b?", re.IGNORECASE)


def _read_text(name: str, value: Any) -> str:
    """Read text that goes on to Spark. What would mean more there than itself is an error."""
    text = str(value)
    if name == "warehouse" and not (isinstance(value, (str, os.PathLike)) and text.strip()):
        raise InterfaceError(f"Option 'warehouse' must name a folder, not {value!r}.")
    if has_control(text):
        raise InterfaceError(f"Option {name!r} must be text without control characters.")
    # Spark replaces variables in names and in settings; in the address of the catalog a semicolon would begin a setting of its own.
    forbidden = [mark for mark in ("${", *(";" * (name == "warehouse"))) if mark in text]
    if forbidden and not is_secret(name):
        raise InterfaceError(f"Option {name!r} cannot have {forbidden[0]} in it.")
    if name == "master" and _MASTER.fullmatch(text) is None:
        raise InterfaceError(f"Option {name!r} must be local[4], spark://host:7077, yarn or k8s://https://host:443, not {value!r}.")
    if name == "store" and _OTHER_STORE.match(text) and text.split(":", 1)[0].lower() not in _STORES:
        raise InterfaceError(f"Option {name!r} must be a folder, off, or a URL of the kinds {', '.join(_STORES)}, not {value!r}.")
    if name == "graph" and _GRAPH.fullmatch(text) is None:
        raise InterfaceError(f"Option {name!r} must name a graph: graph, schema.graph or catalog.schema.graph, not {value!r}.")
    if name == "driver_memory" and _MEMORY.fullmatch(text) is None:
        raise InterfaceError(f"Option {name!r} must be a size as Spark writes it, such as 4g or 512m, not {value!r}.")
    return text


def has_control(text: str) -> bool:
    """Say whether text has control characters or lone surrogates."""
    return _CONTROL.search(text) is not None


def _read_server(text: str) -> str:
    """Return ``host:port``; the port is Spark Connect's own when there is none, and an IPv6 address stands in brackets."""
    match = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^\s/:;?@\[\]]+)(?::(\d{1,5}))?", text)
    if match is None:
        raise InterfaceError("Option 'server' must be host or host:port; other parameters are options of their own.")
    return f"{match[1]}:{match[2] or DEFAULT_PORT}"


def read_conf(value: Any) -> dict[str, str]:
    """Return settings of Spark by name. Raises InterfaceError."""
    if not isinstance(value, Mapping):
        raise InterfaceError(f"Option 'conf' must be a mapping from names of Spark's settings to values, not {type(value).__name__}.")
    return {str(name): str(each) for name, each in value.items()}


def _read_truth(name: str, value: Any) -> bool:
    text = str(value).lower()
    if text not in ("true", "false"):
        raise InterfaceError(f"Option {name!r} must be true or false, not {value!r}.")
    return text == "true"


def _read_share(name: str, value: Any, *, may_be_zero: bool) -> float:
    try:
        share = float(value)
    except (TypeError, ValueError):
        share = -1.0
    if not 0.0 <= share <= 1.0 or (share == 0.0 and not may_be_zero):
        raise InterfaceError(f"Option {name!r} must be a number {'from 0' if may_be_zero else 'above 0 and up'} to 1, not {value!r}.")
    return share


def _read_switch(name: str, value: Any) -> bool:
    known = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}.get(str(value).lower())
    if known is None:
        raise InterfaceError(f"Option {name!r} must be on or off (or true or false), not {value!r}.")
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
    moment = (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    if moment > time.time():
        raise InterfaceError(f"Option 'snapshot' must be a time of the past, not {value!r}: other versions may still come until then.")
    return moment


_CHOICES: Mapping[str, type[Enum]] = {
    "policy": Policy,
    "floats": Floats,
    "row_rules": RowRules,
    "recursion": RecursionPlace,
    "terms": Terms,
}


def _read_choice(name: str, value: Any) -> Enum:
    kind = _CHOICES[name]
    try:
        return value if isinstance(value, kind) else kind(str(value).lower())
    except ValueError:
        raise InterfaceError(f"Option {name!r} must be {' or '.join(str(each.value) for each in kind)}, not {value!r}.") from None
