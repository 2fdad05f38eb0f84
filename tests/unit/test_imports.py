"""The import rule: the surface knows the middleware, the middleware the stages, a stage only earlier stages."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "imp_driver"

GROUND = ("values", "errors", "ports", "reasons")
"""What any module may import: values, the driver's errors, the Protocols at its seams, the reasons that it gives."""

STAGES = (
    "parse",
    "observe",
    "plan",
    "sparql",
    "safety",
    "reuse",
    "snapshot",
    "capture",
    "delta",
    "dataflow",
    "provenance",
    "sketch",
    "persist",
    "buckets",
    "circuit",
    "state",
    "maintain",
    "rewrite",
    "answer",
    "what_if",
    "advise",
)
"""In the order data flows; a stage imports itself, earlier ones, and the ground. What is observed is counted all along the way."""

MAY_IMPORT: dict[str, set[str]] = {
    "dbapi": {"dbapi", "pipeline", "url"},
    "url": set(),
    "changes": {"parse", "snapshot"},
    "commands": {*STAGES, "changes", "commands"},
    "pipeline": {"parse", "delta", "persist", "maintain", "middleware", "spark", "observe", "refresher"},
    "refresher": {"state.named_views", "state.worker"},
    "middleware": {*STAGES, "changes", "commands"},
    "observe": {"parse", "observe"},
    "spark": {"spark", "parse.column_mapping", "parse.literals", "parse.markers"},
    "cli": {
        "",
        "cli",
        "url",
        "dbapi.connection",
        "dbapi.cursor",
        "dbapi.typeobjects",
        "parse.clustering",
        "parse.graphs",
        "parse.sparql",
        "sparql.files",
        "sparql.graph_table",
        "observe.exposition",
        "observe.metric_files",
    },
    "__init__": {"dbapi", "observe.registry"},
    "__main__": {"cli"},
    "values": set(),
    "errors": set(),
    "report": set(),
    "reasons": set(),
    "ports": set(),
} | {stage: set(STAGES[: place + 1]) for place, stage in enumerate(STAGES)}

FOREIGN = {
    "pyspark": {"spark"},
    "py4j": {"spark"},
    "grpc": {"spark"},
    "deltalake": {"delta", "persist"},
    "z3": {"reuse"},
    "dd": {"provenance"},
    "rdflib": {"sparql"},
    "pyoxigraph": {"sparql"},
    "sqlglot": {"parse", "plan", "safety", "reuse", "rewrite", "answer", "spark", "snapshot", "what_if"},
    "rich": {"cli"},
    "prompt_toolkit": {"cli"},
    "pygments": {"cli"},
    "matplotlib": {"cli"},
    "pandas": {"dbapi"},
    "opentelemetry": {"observe"},
    "prometheus_client": set(),
}
"""Which packages may import a library."""

WITHOUT_JVM_OR_PARSER = ("dataflow", "sketch")


def imported(source: str) -> set[str]:
    """Return the dotted names that a module imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def violations(module: str, source: str) -> list[str]:
    """Return what a module of this dotted name (below imp_driver) must not import."""
    part = module.split(".")[0]
    found = []
    for name in sorted(imported(source)):
        library, _, rest = name.partition(".")
        if library in FOREIGN and part not in FOREIGN[library]:
            found.append(f"{module} imports {library}")
        if library == "imp_driver" and not _allowed(part, rest):
            found.append(f"{module} imports imp_driver.{rest}")
    return found


def _allowed(part: str, target: str) -> bool:
    return any(_is_below(target, each) for each in {*GROUND, *MAY_IMPORT[part]})


def _is_below(target: str, module: str) -> bool:
    return target == module or (module != "" and target.startswith(f"{module}.")) or (module == "" and "." not in target)


def _modules() -> Iterable[tuple[str, Path]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts), path


@pytest.mark.parametrize(("module", "path"), list(_modules()), ids=[module for module, _ in _modules()])
def test_rule(module: str, path: Path) -> None:
    assert violations(module, path.read_text(encoding="utf-8")) == []


def test_only_one_module_knows_which_table_format_lies_behind_the_seam() -> None:
    independent = {"imp_driver.values.tables", "imp_driver.sketch.coverage"}
    knowing = set()
    for module, path in _modules():
        names = {name.rsplit(".", 1)[0] for name in imported(path.read_text(encoding="utf-8")) if name.startswith("imp_driver.delta.")}
        if module.split(".")[0] != "delta" and names - independent:
            knowing.add(module)
    assert knowing == {"pipeline"}


def _at_run_time(source: str) -> set[str]:
    """Return the dotted names that a module imports when it is imported itself: not for types alone, and not inside functions."""
    names: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= imported(ast.unparse(node))
    return names


def circles(sources: Mapping[str, str]) -> list[str]:
    """Return modules that import each other in a circle; none where there is no circle."""
    graph: dict[str, set[str]] = {}
    for module, source in sources.items():
        names = {name.removeprefix("imp_driver.") for name in _at_run_time(source) if name.startswith("imp_driver.")}
        # A name of a module, or of something in it.
        graph[module] = {name if name in sources else name.rpartition(".")[0] for name in names} & set(sources) - {module}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other_in_a_circle_within_a_folder_either() -> None:
    assert circles({module: path.read_text(encoding="utf-8") for module, path in _modules() if module != "__init__"}) == []


def test_a_circle_is_found() -> None:
    sources = {"a.b": "from imp_driver.a.c import f", "a.c": "from imp_driver.d import g", "d": "from imp_driver.a import b"}
    assert sorted(set(circles(sources))) == ["a.b", "a.c", "d"]
    assert circles(sources | {"d": "def g():\n    from imp_driver.a import b"}) == []


@pytest.mark.parametrize("stage", WITHOUT_JVM_OR_PARSER)
def test_dataflow_and_sketch_reach_neither_engine_nor_parser(stage: str) -> None:
    sources = {module: path.read_text(encoding="utf-8") for module, path in _modules()}
    reached = {module for module in sources if module.split(".")[0] == stage}
    waiting = list(reached)
    while waiting:
        for name in imported(sources[waiting.pop()]):
            for module in sources:
                if _is_below(name.removeprefix("imp_driver."), module) and module not in reached and module != "__init__":
                    reached.add(module)
                    waiting.append(module)
    libraries = {name.split(".")[0] for module in reached for name in imported(sources[module])}
    assert not libraries & {"pyspark", "py4j", "sqlglot", "deltalake"}


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("dataflow.expression.select", "import pyspark"),
        ("dataflow.expression.select", "def f():\n    from sqlglot import exp"),
        ("plan.bind", "from imp_driver.dataflow.expression.select import select"),
        ("delta.tables", "from imp_driver.middleware import Middleware"),
        ("dbapi.cursor", "from imp_driver.parse.statement import parse"),
        ("maintain.step", "from deltalake import DeltaTable"),
        ("cli.dashboard", "from imp_driver.spark import local"),
    ],
)
def test_the_rule_can_fail(module: str, source: str) -> None:
    assert violations(module, source) != []


@pytest.mark.parametrize("path", sorted((PACKAGE.parent / "dialect").rglob("*.py")), ids=lambda path: path.stem)
def test_the_dialect_knows_the_public_driver_alone(path: Path) -> None:
    assert {name for name in imported(path.read_text(encoding="utf-8")) if name.split(".")[0] == "imp_driver"} <= {"imp_driver"}
