"""Links between pages, files of the repository and the site; hooks of mkdocs, to which a warning ends a strict build.

In the repository a link names a file. On the site a file is a page, or else its path stands as text: the site knows no address of the
repository.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks.md",
}
"""Files of the repository outside of docs/ that are pages of the site too."""

_LOG = logging.getLogger("mkdocs.hooks.links")
_LINK = re.compile(r"\[((?:[^][`]|`[^`]*`)*)\]\(([^()\s]+)\)")
_CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`(?!\]\())", re.MULTILINE | re.DOTALL)
_LOADED = re.compile(r"<(?:script|link|img|iframe|source|object)\b[^>]*\b(?:src|href|data)=[\"']?((?:https?:)?//[^\"'\s>]+)")
_OUTSIDE = re.compile(r"[a-z]+:|#")


def with_links_of_the_site(markdown: str, source: str, exists: Callable[[str], bool]) -> tuple[str, list[str]]:
    """Return a text with its links as the site has them, and those that lead nowhere.

    ``source`` is the path of its file in the repository, and ``exists`` is asked for such paths.
    """
    missing: list[str] = []

    def replaced(match: re.Match[str]) -> str:
        text, link = match.groups()
        if _OUTSIDE.match(link):
            return match[0]
        name, _, anchor = link.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(source), name))
        if not exists(path):
            missing.append(link)
            return match[0]
        page = PAGES.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
        if page is not None:
            return f"[{text}]({page}{'#' if anchor else ''}{anchor})"
        return f"`{path}`" if text.strip("`") in path else f"{text} (`{path}` in the repository)"

    # Every second part is code, which has no links.
    parts = _CODE.split(markdown)
    parts[::2] = [_LINK.sub(replaced, part) for part in parts[::2]]
    return "".join(parts), missing


def loaded_from_elsewhere(html: str) -> list[str]:
    """Return the addresses outside of the site from which a page would load something; links that a reader follows are none."""
    return _LOADED.findall(html)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    sources = {made: source for source, made in PAGES.items()}
    source = sources.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    text, missing = with_links_of_the_site(markdown, source, lambda path: (ROOT / path).exists())
    for link in missing:
        _LOG.warning("%s links to %s, which is not there", source, link)
    return text


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    for address in loaded_from_elsewhere(output):
        _LOG.warning("%s would load %s from elsewhere", page.file.src_uri, address)
    return output
