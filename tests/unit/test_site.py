"""The site: links of the repository become those of its pages, and what a page would load from elsewhere is found."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SITE = Path(__file__).parents[2] / "docs" / "site"


@pytest.fixture(scope="module")
def links() -> ModuleType:
    specification = importlib.util.spec_from_file_location("links_of_the_site", SITE / "links.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


_THERE = {"README.md", "CONTRIBUTING.md", "benchmarks/records", "benchmarks/README.md", "docs/views.md", "docs/a.svg", "examples/b.py"}


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("README.md", "[views](docs/views.md#policies)", "[views](views.md#policies)"),
        ("README.md", "[how](CONTRIBUTING.md)", "[how](contributing.md)"),
        ("docs/start.md", "[views](views.md), [top](../README.md)", "[views](views.md), [top](index.md)"),
        ("docs/start.md", "![a picture](a.svg)", "![a picture](a.svg)"),
        ("benchmarks/README.md", "[`views`](../docs/views.md)", "[`views`](views.md)"),
        ("docs/start.md", "see [records](../benchmarks/records).", "see `benchmarks/records`."),
        ("docs/start.md", "([example](../examples/b.py))", "(`examples/b.py`)"),
        ("docs/start.md", "[what is measured](../benchmarks/records)", "what is measured (`benchmarks/records` in the repository)"),
        ("docs/start.md", "[examples/b.py](../examples/b.py)", "`examples/b.py`"),
        ("docs/start.md", "[here](#below), [there](https://example.org)", "[here](#below), [there](https://example.org)"),
        ("docs/start.md", "`[a](b.md)`\n\n```sh\n[a](b.md)\n```\n", "`[a](b.md)`\n\n```sh\n[a](b.md)\n```\n"),
    ],
)
def test_links_are_those_of_the_site(links: ModuleType, source: str, text: str, expected: str) -> None:
    assert links.with_links_of_the_site(text, source, _THERE.__contains__) == (expected, [])


def test_links_to_nothing_are_told(links: ModuleType) -> None:
    text = "[a](nothing.md), [b](../benchmarks/nothing) and [c](views.md)"
    assert links.with_links_of_the_site(text, "docs/start.md", _THERE.__contains__) == (text, ["nothing.md", "../benchmarks/nothing"])


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<script src="https://example.org/a.js"></script>', ["https://example.org/a.js"]),
        ('<link rel="stylesheet" href="//example.org/a.css">', ["//example.org/a.css"]),
        ("<img alt=x src=http://example.org/a.png>", ["http://example.org/a.png"]),
        ('<a href="https://example.org">a reader follows it</a><script src="assets/a.js"></script><img src="a.png">', []),
    ],
)
def test_what_is_loaded_from_elsewhere_is_found(links: ModuleType, html: str, expected: list[str]) -> None:
    assert links.loaded_from_elsewhere(html) == expected
