"""Options of a connection: one frozen value, made from keyword arguments or a URL (imp_driver/url.py)."""

from __future__ import annotations

import difflib
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from imp_driver.errors import InterfaceError
from imp_driver.values.redaction import HIDDEN, is_secret, redacted


class SketchMode(Enum):
    """off: never sketch. lazy: maintain before use. eager: lazy, and maintain in the background what was used lately.
    shadow: lazy, and run the plain query too and raise on any difference.
    """

    OFF = "off"
    LAZY = "lazy"
    EAGER = "eager"
    SHADOW = "shadow"


class Floats(Enum):
    """rounded: sums of DOUBLE that the driver answers itself are the correctly rounded ones; Spark's own differ from run to run.
    spark: they are left to Spark.
    """

    ROUNDED = "rounded"
    SPARK = "spark"


class Policy(Enum):
    """auto: bring a sketch up to date when that is estimated to cost less than it saves. incremental: whenever it can be."""

    AUTO = "auto"
    INCREMENTAL = "incremental"


class RecursionPlace(Enum):
    """auto: WITH RECURSIVE by UNION is computed in process, and by Spark, round by round, where it is too large or not known there.
    process: in process alone. spark: by Spark alone.
    """

    AUTO = "auto"
    PROCESS = "process"
    SPARK = "spark"


class RowRules(Enum):
    """engine: where the engine may have rules of its own about who sees which rows, nothing is answered without it.
    none: the promise that it has none: who may read a table sees all of its rows, as they are.
    """

    ENGINE = "engine"
    NONE = "none"


class Terms(Enum):
    """text: terms in results of SPARQL as people read them. typed: numbers, truth values, dates and times as such. n3: as N-Triples."""

    TEXT = "text"
    TYPED = "typed"
    N3 = "n3"


@dataclass(frozen=True, slots=True, repr=False)
class Options:
    """What a connection was asked for. Its repr hides the values of options with the name of a secret.

    Attributes:
        warehouse: folder of the embedded warehouse; None when Spark runs elsewhere.
        server: ``host:port`` of a Spark Connect server; None otherwise.
        user_id: name of the user at the server.
        token: bearer token for the server; it is in no message and no repr.
        use_ssl: whether the server is spoken to by TLS; with a token it always is, but for ``localhost``.
        shared_files: whether ``file:`` locations of a server on another machine are the same folders here (both mount them).
        schema: current schema of the connection.
        sketch: how sketches are used.
        answers: whether queries whose rows are known from maintained groups are answered from them.
        recursion: where WITH RECURSIVE by UNION is computed.
        background_share: share (above 0, to 1) of the engine's cores that read tables for captures which no query waits for.
        floats: what sums of DOUBLE in such answers are.
        row_rules: whether the engine may show others than all rows of a table to who may read it.
        policy: when sketches are brought up to date; in shadow mode, which is about rows and not about time, always as incremental.
        sketch_guard: share (0 to 1) of the queries with a sketch that run plain as well; a template that differs is disabled.
        eager_batch: changed rows that wait before sketch=eager maintains in the background; None: by measured cost.
        fragments: ranges per sketched attribute at most.
        maximum_runs: ranges conjoined to a query at most (measured, docs/how-it-works.md).
        memory: bytes of operator state that all templates of a warehouse may hold together; as text also a size such as ``512m``.
        snapshot: moment (seconds since 1970) whose versions the connection reads, and then it cannot write; None: the newest.
        store: where sketches outlive the process: a folder or URL, or ``off``; ``auto`` is ``_imp/store`` in the embedded warehouse.
        graph: graph that SPARQL means where a text names none.
        terms: how results of SPARQL show terms.
        cores: threads of the embedded Spark.
        driver_memory: heap of the embedded Spark, in Spark's notation; only the first connection of a process can set it.
        trace_query_text: whether OpenTelemetry spans have the text of statements, with the constants in it.
        master: where the embedded Spark has its executors (``spark://host:7077``, ``yarn``, ``k8s://..``); None: in this process.
        conf: settings of Spark with which the embedded engine starts, by name.
    """

    warehouse: str | None = None
    server: str | None = None
    user_id: str | None = None
    token: str | None = None
    use_ssl: bool = False
    shared_files: bool = False
    schema: str | None = None
    sketch: SketchMode = SketchMode.LAZY
    answers: bool = True
    floats: Floats = Floats.ROUNDED
    row_rules: RowRules = RowRules.ENGINE
    recursion: RecursionPlace = RecursionPlace.AUTO
    background_share: float = 0.5
    policy: Policy = Policy.AUTO
    sketch_guard: float = 0.0
    eager_batch: int | None = None
    fragments: int = 10_000
    maximum_runs: int = 40
    memory: int = 1 << 30
    store: str = "auto"
    snapshot: float | None = None
    graph: str | None = None
    terms: Terms = Terms.TEXT
    cores: int | None = None
    driver_memory: str = "4g"
    trace_query_text: bool = False
    master: str | None = None
    conf: tuple[tuple[str, str], ...] = ()

    @property
    def is_compared(self) -> bool:
        """Whether answers may be compared with Spark's, which takes other ones of rows that tie."""
        return self.sketch is SketchMode.SHADOW or self.sketch_guard > 0

    def __repr__(self) -> str:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        shown = {name: HIDDEN if value and is_secret(name) else redacted(repr(value)) for name, value in values.items()}
        return f"Options({', '.join(f'{name}={text}' for name, text in shown.items())})"

    def with_values(self, values: Mapping[str, Any]) -> Options:
        """Return a copy with the named values read from text or Python; None leaves an option as it is.

        Raises:
            InterfaceError: an option is unknown or its value cannot be read.
        """
        known = {each.name for each in fields(self)}
        changed: dict[str, Any] = {}
        conf = dict(self.conf)
        for name, value in values.items():
            if name.startswith(_SETTING):
                conf[name.removeprefix(_SETTING)] = str(value)
                continue
            if name == "conf":
                conf.update(_read_conf(value))
                continue
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                hint = f"Did you mean {near[0]!r}?" if near else f"Known options: {', '.join(sorted(known))}."
                raise InterfaceError(f"Unknown option {name!r}. {hint}")
            if value is not None:
                changed[name] = _read(name, value)
        return replace(self, conf=tuple(sorted(conf.items())), **changed)

    def check_deployment(self) -> None:
        """Check that every option is one of the place where Spark runs: a Connect server, this process, or a session that is there.

        Raises:
            InterfaceError: an option would have no effect.
        """
        if self.server is not None and self.warehouse is not None:
            raise InterfaceError("A connection has a warehouse of its own or a server, not both.")
        if self.warehouse is not None and self.shared_files:
            raise InterfaceError(
                "Option 'shared_files' is about the folders of a Spark Connect server; here it would have no effect. Leave it out."
            )
        place = "connect" if self.server is not None else "embedded" if self.warehouse is not None else "session"
        for each in fields(self):
            needed = _ONLY.get(each.name)
            if needed not in (None, place) and getattr(self, each.name) != each.default:
                raise InterfaceError(f"Option {each.name!r} is for {_PLACES[str(needed)]}; here it would have no effect. Leave it out.")

    def unheard_by(self, started: Options) -> tuple[str, ...]:
        """Return the names of options of the embedded engine, given here, that an engine started with others does not follow."""
        return tuple(
            each.name
            for each in fields(self)
            if _ONLY.get(each.name) == "embedded" and getattr(self, each.name) not in (each.default, getattr(started, each.name))
        )


DEFAULT_PORT = 15002
"""Port on which a Spark Connect server listens when it was not told otherwise."""
_SETTING = "conf."
"""What the name of a setting of Spark begins with among the options of a URL."""
_PLACES = {"connect": "imp+connect:// URLs", "embedded": "an embedded warehouse (imp:///folder)"}
_ONLY = dict.fromkeys(("user_id", "token", "use_ssl"), "connect") | dict.fromkeys(("cores", "driver_memory", "master", "conf"), "embedded")
_POSITIVE = {"fragments", "maximum_runs", "memory", "cores", "eager_batch"}


def _read(name: str, value: Any) -> Any:
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


def _read_conf(value: Any) -> dict[str, str]:
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
