"""Options of a connection: one frozen value, made from keyword arguments or a URL (imp_driver/url.py)."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from imp_driver.errors import InterfaceError
from imp_driver.values.option_kinds import Floats, Policy, RecursionPlace, RowRules, SketchMode, Terms
from imp_driver.values.option_reader import read_conf, read_option
from imp_driver.values.redaction import HIDDEN, is_secret, redacted

_SETTING = "conf."
"""What the name of a setting of Spark begins with among the options of a URL."""
_PLACES = {"connect": "imp+connect:// URLs", "embedded": "an embedded warehouse (imp:///folder)"}
_ONLY = dict.fromkeys(("user_id", "token", "use_ssl"), "connect") | dict.fromkeys(("cores", "driver_memory", "master", "conf"), "embedded")


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
                conf.update(read_conf(value))
                continue
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                hint = f"Did you mean {near[0]!r}?" if near else f"Known options: {', '.join(sorted(known))}."
                raise InterfaceError(f"Unknown option {name!r}. {hint}")
            if value is not None:
                changed[name] = read_option(name, value)
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
