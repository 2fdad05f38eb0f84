"""Test cases of the carried suites, as their manifests list them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

import pyoxigraph

from tests.soundness.sparql.carried import files, text

BASE = "https://w3c.github.io/rdf-tests/sparql/"
"""What relative IRIs of the suites' files begin with."""

_MANIFEST = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
_QUERY = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
_UPDATE = "http://www.w3.org/2009/sparql/tests/test-update#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"

_GRAPH = re.compile(r"(?i)\b((?:FROM|NAMED|USING|GRAPH|WITH|INTO|TO|ADD|COPY|MOVE|CLEAR|DROP|CREATE)\s+)<([^>:]*)>")
_FROM = re.compile(r"(?i)\b(FROM\s+(?:NAMED\s+)?)<([^>:]*)>")


class Kind(Enum):
    QUERY = "QueryEvaluationTest"
    CSV = "CSVResultFormatTest"
    UPDATE = "UpdateEvaluationTest"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file of triples and the graph that has them; the name None stands for the default graph."""

    path: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A test.

    Attributes:
        path: file of the query or update.
        loaded: triples that are there, or are there before the update.
        result: file of the solutions or triples of a query.
        left: triples that are there after an update.
        is_lax: whether solutions may come less often than the result says, but at least once (REDUCED).
    """

    name: str
    kind: Kind
    path: str
    loaded: tuple[Loaded, ...]
    result: str = ""
    left: tuple[Loaded, ...] = ()
    is_lax: bool = False

    @property
    def text(self) -> str:
        """The query or update, with its base; relative names of graphs, which would be those of tables, are made absolute."""
        folder = f"{BASE}{self.path.rpartition('/')[0]}"
        return f"BASE <{BASE}{self.path}>\n" + _GRAPH.sub(rf"\1<{folder}/\2>", text(self.path))

    @property
    def ordered_by(self) -> tuple[str, ...]:
        """Return the variables of ORDER BY behind the pattern; none where there is no ORDER BY."""
        clause = re.search(r"(?i)\bORDER\s+BY\b([^}]*)$", text(self.path))
        return tuple(re.findall(r"[?$](\w+)", clause[1])) if clause else ()


class _Manifest:
    """Values of properties by subject."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._values: dict[tuple[object, str], list[object]] = defaultdict(list)
        self._subjects: list[object] = []
        for quad in pyoxigraph.parse(files()[path], pyoxigraph.RdfFormat.TURTLE, base_iri=BASE + path):
            self._values[quad.subject, quad.predicate.value].append(quad.object)
            self._subjects.append(quad.subject)

    def all(self, subject: object, name: str) -> list[object]:
        return self._values.get((subject, name), [])

    def one(self, subject: object, name: str) -> object | None:
        found = self.all(subject, name)
        return found[0] if found else None

    def cases(self) -> Iterator[Case]:
        for subject in self._entries():
            kinds = [kind for kind in Kind if pyoxigraph.NamedNode(_MANIFEST + kind.value) in self.all(subject, _RDF + "type")]
            if kinds:
                yield self._case(subject, kinds[0])

    def _entries(self) -> Iterator[object]:
        """Return the tests of the manifest's lists: others are there that were not approved."""
        rests = [each for subject in dict.fromkeys(self._subjects) for each in self.all(subject, _MANIFEST + "entries")]
        for rest in rests:
            while (first := self.one(rest, _RDF + "first")) is not None:
                yield first
                rest = self.one(rest, _RDF + "rest")

    def _case(self, subject: object, kind: Kind) -> Case:
        action, result = self.one(subject, _MANIFEST + "action"), self.one(subject, _MANIFEST + "result")
        name = f"{self.path.rpartition('/')[0]}/{_iri(subject).rpartition('#')[2]}"
        if kind is Kind.UPDATE:
            path = _path(self.one(action, _UPDATE + "request"))
            return Case(name, kind, path, self._loaded(action, _UPDATE), left=self._loaded(result, _UPDATE))
        is_lax = bool(self.all(subject, _MANIFEST + "resultCardinality"))
        path = _path(self.one(action, _QUERY + "query"))
        loaded = (*self._loaded(action, _QUERY), *_read_from(path))
        return Case(name, kind, path, loaded, _path(result), is_lax=is_lax)

    def _loaded(self, subject: object, vocabulary: str) -> tuple[Loaded, ...]:
        default = [Loaded(_path(each)) for each in self.all(subject, vocabulary + "data")]
        return (*default, *(self._named(each) for each in self.all(subject, vocabulary + "graphData")))

    def _named(self, value: object) -> Loaded:
        if isinstance(value, pyoxigraph.NamedNode):
            return Loaded(_path(value), value.value)
        label = self.one(value, _RDFS + "label")
        assert isinstance(label, pyoxigraph.Literal)
        return Loaded(_path(self.one(value, _UPDATE + "graph")), label.value)


def _read_from(path: str) -> Iterator[Loaded]:
    """Return the files that a query names after FROM, which no manifest lists."""
    folder = path.rpartition("/")[0]
    for name in dict.fromkeys(each for _, each in _FROM.findall(text(path))):
        if f"{folder}/{name}" in files():
            yield Loaded(f"{folder}/{name}", f"{BASE}{folder}/{name}")


def _iri(value: object) -> str:
    assert isinstance(value, pyoxigraph.NamedNode)
    return value.value


def _path(value: object) -> str:
    return _iri(value).removeprefix(BASE)


def cases() -> Mapping[str, Case]:
    """Return the evaluation tests of all carried folders by name, such as ``sparql10/basic/base-prefix-1``."""
    manifests = (_Manifest(path) for path in files() if path.endswith("/manifest.ttl"))
    return {case.name: case for manifest in manifests for case in manifest.cases()}
