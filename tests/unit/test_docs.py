"""The docs name every code and every option, and the commands that CI runs."""

from __future__ import annotations

import configparser
import re
from dataclasses import fields
from enum import Enum
from pathlib import Path

import pytest

from imp_driver.observe.metrics import BUCKETS, FAMILIES
from imp_driver.reasons import Decision, DeltaSource, Reason, RecaptureReason
from imp_driver.spark.packages import COORDINATES, cache_folder
from imp_driver.values.options import Options
from imp_driver.values.report import SketchReport
from tests.connect import server
from tests.unit.test_imports import STAGES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("codes", [Decision, Reason, RecaptureReason, DeltaSource])
def test_every_code_is_listed_with_its_meaning(codes: type[Enum]) -> None:
    text = (ROOT / "docs" / "reasons.md").read_text(encoding="utf-8")
    section = text.split(f"## {codes.__name__}\n", 1)[1].split("\n## ", 1)[0]
    listed = [line for line in section.splitlines() if line.startswith("| `")]
    assert listed == [f"| `{code.name}` | {code.value} |" for code in codes]


def test_the_map_of_rooms_has_every_stage_in_the_order_of_the_import_rule() -> None:
    text = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8").split("## The rooms\n", 1)[1].split("\n## ", 1)[0]
    rooms = [room for line in text.splitlines() if line.startswith("| `") for room in re.findall(r"`(\w+)/`", line.split(" | ")[0])]
    stages = [stage for stage in STAGES if stage not in ("observe", "advise")]
    assert [room for room in rooms if room in stages] == stages
    assert {path.parent.name for path in (ROOT / "imp_driver").glob("*/__init__.py")} == set(rooms)


def test_every_rule_that_the_code_cites_is_listed() -> None:
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    listed = {match[1] for match in re.finditer(r"^\| (\d+(?:\.\d+)?) \|", text, re.MULTILINE)}
    # A chapter is named where all of its rules are meant.
    listed |= {number.split(".")[0] for number in listed}
    cited: dict[str, str] = {}
    for path in sorted((ROOT / "imp_driver").rglob("*.py")):
        for match in re.finditer(r"\brules? ((?:\d+(?:\.\d+)?)(?:(?:, | and | to )\d+(?:\.\d+)?)*)", path.read_text(encoding="utf-8")):
            cited |= dict.fromkeys(re.findall(r"\d+(?:\.\d+)?", match[1]), path.name)
    assert len(cited) > 10
    assert {number: name for number, name in cited.items() if number not in listed} == {}


@pytest.mark.parametrize("kind", [Options, SketchReport])
def test_every_option_and_report_field_is_in_the_reference(kind: type) -> None:
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    missing = [
        field.name
        for field in fields(kind)
        if f"`{field.name}`" not in text and f"`{field.name}," not in text and f" `{field.name}" not in text
    ]
    assert [name for name in missing if name not in ("warehouse",)] == []


def test_every_metric_is_listed_with_its_labels_and_meaning() -> None:
    text = (ROOT / "docs" / "observability.md").read_text(encoding="utf-8")
    listed = [line for line in text.splitlines() if line.startswith("| `imp_") and "_driver" not in line.split("|")[1]]
    assert listed == [
        f"| `{family.name}` | {family.kind.value} | {', '.join(f'`{label}`' for label in family.labels)} | {family.meaning} |"
        for family in FAMILIES
    ]
    bounds = "Buckets of histograms end at 1, 2.5, 5, 10, 25, 50, 100, 250, 500 ms, 1, 2.5, 5, 10, 30, 60 and 300 s."
    assert bounds in text
    milliseconds = [float(each) for each in bounds.split("end at ")[1].split(" ms")[0].split(", ")]
    seconds = [float(each) for each in bounds.split("ms, ")[1].removesuffix(" s.").replace(" and", ",").split(", ")]
    assert (*(each / 1000 for each in milliseconds), *seconds) == BUCKETS


def test_every_logger_and_span_attribute_is_listed() -> None:
    text = (ROOT / "docs" / "observability.md").read_text(encoding="utf-8")
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "imp_driver").rglob("*.py")]
    loggers = {name for source in sources for name in re.findall(r'getLogger\("(imp_[\w.]+)"\)', source)}
    assert {f"| `{name}` |" in text for name in loggers} == {True}
    assert {line.split("`")[1] for line in text.splitlines() if re.match(r"\| `imp_driver", line)} == loggers
    spans = (ROOT / "imp_driver" / "observe" / "spans.py").read_text(encoding="utf-8")
    attributes = set(re.findall(r'"((?:imp|db|error)\.[\w.]+)"', spans)) - {"imp.statement"}
    assert len(attributes) > 10
    assert {name for name in attributes if f"`{name}`" not in text} == set()


def test_ci_runs_the_test_command_of_the_readme() -> None:
    command = "python3 -m venv .venv && .venv/bin/pip install -q tox tox-uv && .venv/bin/tox"
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_deployment_page_has_the_jars_and_the_settings_of_a_server() -> None:
    text = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([\w.:-]+)` \| `([\w.-]+\.jar)` \|$", text, re.MULTILINE)
    assert listed == [(str(coordinate), coordinate.file_name) for coordinate in COORDINATES]
    assert f"into `{cache_folder().name}` below" in text
    [start] = re.findall(r"```sh\n(pip install .*?SparkConnectServer.*?)```", text, re.DOTALL)
    assert f"--packages {COORDINATES[0]} " in start
    told = dict(re.findall(r"--conf (\S+?)=(\S+)", start))
    assert told == {name: value for name, value in server.SETTINGS.items() if name in told} | {"spark.connect.grpc.binding.port": "15002"}
    assert {"spark.sql.extensions", "spark.sql.catalog.spark_catalog"} <= set(told)
    settings = _settings()
    [pyspark] = [line for line in settings["options"]["install_requires"].splitlines() if line.startswith("pyspark==")]
    version = pyspark.partition("==")[2]
    assert f"pyspark[connect]=={version}" in start
    assert f"spark-connect_2.13-{version}.jar" in start


def test_every_extra_is_listed_with_its_use() -> None:
    text = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8").split("## Extras\n", 1)[1].split("\n## ", 1)[0]
    listed = {name for line in text.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line.split(" | ")[0])}
    assert listed == set(_settings()["options.extras_require"])


def test_the_newest_versions_of_the_changes_are_what_comes_and_what_is_there() -> None:
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[:2] == ["Unreleased", _settings()["metadata"]["version"]]


@pytest.mark.parametrize(
    "document", [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")], ids=lambda each: each.name
)
def test_every_link_of_a_document_leads_to_a_file(document: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^()\s]+)\)", text) if not re.match(r"[a-z]+:|#", link)]
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")], ids=lambda each: each.name)
def test_every_path_in_a_document_exists(document: Path) -> None:
    if document.name == "CHANGELOG.md":
        return
    named = re.findall(r"`((?:tests|imp_driver|dialect|benchmarks|examples|docs)/[\w./-]+)`", document.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists() and name not in _MADE_LATER] == []


def _settings() -> configparser.ConfigParser:
    settings = configparser.ConfigParser()
    settings.read(ROOT / "setup.cfg")
    return settings


_MADE_LATER = {"tests/wide.json"}
