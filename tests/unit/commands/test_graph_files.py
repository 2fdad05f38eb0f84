"""What LOAD takes for a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from imp_driver.commands.graph_files import loaded_rows
from imp_driver.errors import NotSupportedError, OperationalError, ProgrammingError


def test_a_path_and_an_iri_of_a_file_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a b.nt"
    path.write_text("<a:a> <a:p> <a:b> .\n<a:a> <a:p> <a:b> .\n")
    for location in (str(path), path.as_uri(), f"file://localhost{path.as_uri().removeprefix('file://')}"):
        assert loaded_rows(location, "<a:n>").to_pylist() == [{"s": "<a:a>", "p": "<a:p>", "o": "<a:b>", "g": "<a:n>"}]


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("# nothing\n")
    assert loaded_rows(str(tmp_path / "a.ttl"), None).num_rows == 0


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotSupportedError, match="LOAD reads files"):
        loaded_rows("http://example.org/a.ttl", None)
    with pytest.raises(OperationalError, match="does not exist"):
        loaded_rows(str(tmp_path / "none.ttl"), None)
    with pytest.raises(OperationalError, match="is a folder"):
        loaded_rows(str(tmp_path), None)
    (tmp_path / "a.csv").touch()
    with pytest.raises(ProgrammingError, match=r"a\.csv is none of \.ttl"):
        loaded_rows(str(tmp_path / "a.csv"), None)
