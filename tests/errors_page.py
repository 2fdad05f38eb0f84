"""The code blocks of docs/errors.md, each with what is shown below it."""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import dataclass
from pathlib import Path

import imp_driver

_PAGE = Path(__file__).parents[1] / "docs" / "errors.md"
_PAIR = re.compile(r"```(python|sh)\n(.*?)```\n\n```text\n(.*?)```\n", re.DOTALL)
_SETUP = re.compile(r"```python\n(.*?)```\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Mistake:
    """``shown`` is what the page says is printed or raised; ``..`` in it stands for anything."""

    title: str
    language: str
    code: str
    shown: str

    @property
    def needs_spark(self) -> bool:
        """Whether it runs on the connection of the page, or opens one that is not refused."""
        return re.search(r"\b(?:cursor|connection|with imp_driver)\b", self.code) is not None

    def is_told_by(self, told: str) -> bool:
        pieces = re.split(r"(?<!\w)\.\.(?!\.)", " ".join(self.shown.split()))
        pattern = ".*".join(map(re.escape, pieces))
        return re.fullmatch(pattern, " ".join(told.split())) is not None


def setup() -> str:
    """Return the block of the page that makes its connection and tables."""
    found = _SETUP.search(_PAGE.read_text(encoding="utf-8"))
    assert found is not None
    return found[1]


def mistakes() -> list[Mistake]:
    """Return all mistakes of the page, in its order."""
    sections = re.split(r"^### ", _PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [
        Mistake(section.partition("\n")[0], language, code, shown)
        for section in sections
        for language, code, shown in _PAIR.findall(section)
    ]


def told_by(code: str, names: dict[str, object]) -> str:
    """Run code of the page; return what it printed, and the error that it raised as the page writes it."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(code, _PAGE.name, "exec"), {"imp_driver": imp_driver, **names})
        except imp_driver.Error as error:
            return f"{printed.getvalue()}{type(error).__name__}: {error}"
    return printed.getvalue()
