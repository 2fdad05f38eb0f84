"""The docs name every code and every option, and the commands that CI runs."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from pathlib import Path

import pytest

from imp_driver.config import Options
from imp_driver.observe.report import SketchReport
from imp_driver.reasons import Decision, DeltaSource, Reason, RecaptureReason

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("codes", [Decision, Reason, RecaptureReason, DeltaSource])
def test_every_code_is_listed_with_its_meaning(codes: type[Enum]) -> None:
    text = (ROOT / "docs" / "reasons.md").read_text(encoding="utf-8")
    section = text.split(f"## {codes.__name__}\n", 1)[1].split("\n## ", 1)[0]
    listed = [line for line in section.splitlines() if line.startswith("| `")]
    assert listed == [f"| `{code.name}` | {code.value} |" for code in codes]


@pytest.mark.parametrize("kind", [Options, SketchReport])
def test_every_option_and_report_field_is_in_the_reference(kind: type) -> None:
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    missing = [
        field.name
        for field in fields(kind)
        if f"`{field.name}`" not in text and f"`{field.name}," not in text and f" `{field.name}" not in text
    ]
    assert [name for name in missing if name not in ("warehouse",)] == []


def test_ci_runs_the_test_command_of_the_readme() -> None:
    command = "python3 -m venv .venv && .venv/bin/pip install -q tox && .venv/bin/tox p -p 2 -o"
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
