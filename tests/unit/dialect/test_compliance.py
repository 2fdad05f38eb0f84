"""docs/compliance.md says what is closed in SQLAlchemy's suite, and the tables of requirements hold together."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.testing.requirements import SuiteRequirements

from tests.compliance.requirements import CLOSED, OPEN, SKIPPED, Why

PAGE = Path(__file__).parents[3] / "docs" / "compliance.md"


def _rows(title: str) -> list[str]:
    section = PAGE.read_text(encoding="utf-8").split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    return [line for line in section.splitlines() if line.startswith("| `")]


def _written(reasons: dict[str, tuple[Why, str]]) -> list[str]:
    return [f"| `{name}` | {why.value} | {text} |" for name, (why, text) in sorted(reasons.items())]


def test_the_page_lists_what_is_closed_and_left_out() -> None:
    assert _rows("Requirements that are closed") == _written(CLOSED)
    assert _rows("Single tests that are left out") == _written(SKIPPED)


def test_every_requirement_is_one_of_the_suite_and_has_one_answer() -> None:
    asked = set(dir(SuiteRequirements))
    assert [name for name in (*CLOSED, *OPEN) if name not in asked] == []
    assert set(CLOSED).isdisjoint(OPEN)
