"""Folders of tables that were not made."""

from __future__ import annotations

from pathlib import Path

import pytest

from imp_driver.cli.leftovers import without_leftovers


def _written(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def _fail(folder: Path, *written: str) -> None:
    with without_leftovers(folder):
        _written(folder, *written)
        raise KeyError


@pytest.mark.parametrize(
    ("before", "written", "is_left"),
    [
        ((), ("part-0.parquet",), False),
        ((), ("part-0.parquet", "_delta_log/.tmp"), False),
        ((), ("part-0.parquet", "_delta_log/00000000000000000000.json"), True),
        (("others.txt",), ("part-0.parquet",), True),
    ],
)
def test_what_is_left_of_a_table_that_was_not_made(
    tmp_path: Path, before: tuple[str, ...], written: tuple[str, ...], is_left: bool
) -> None:
    folder = tmp_path / "table"
    _written(folder, *before)
    with pytest.raises(KeyError):
        _fail(folder, *written)
    assert folder.exists() is is_left


def test_what_succeeds_stays(tmp_path: Path) -> None:
    with without_leftovers(tmp_path / "table"), without_leftovers(None):
        _written(tmp_path / "table", "part-0.parquet")
    assert (tmp_path / "table").exists()
