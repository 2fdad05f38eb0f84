"""No record is ever changed or removed: the list of digests and the history are asked, and each finds what the other cannot."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks import manifest, records, surroundings
from tests.unit.benchmarks.making import case, record

ROOT = Path(__file__).parents[3]
FOLDER = "benchmarks/records"


def test_no_record_of_this_project_was_changed_or_removed() -> None:
    assert manifest.problems(records.FOLDER, ROOT) == []


class Repository:
    """A repository with one record, committed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / FOLDER
        self.git("init", "-q", "-b", "main")
        self.record = records.write(record(case(join="1")), self.folder)
        self.commit()

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false")
        return subprocess.run(["git", *who, *arguments], cwd=self.root, check=True, capture_output=True, text=True).stdout

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a change")

    def edit(self) -> None:
        self.record.write_text(self.record.read_text(encoding="utf-8").replace("0.1", "0.0"), encoding="utf-8")

    def hide(self) -> None:
        """Make the list say what there is."""
        (self.folder / manifest.NAME).write_text("", encoding="ascii")
        for path in self.folder.glob("*.json"):
            manifest.append(path)

    @property
    def problems(self) -> list[str]:
        return manifest.problems(self.folder, self.root)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    root = tmp_path / "repository"
    root.mkdir()
    return Repository(root)


def test_new_records_are_no_problem(repository: Repository) -> None:
    assert repository.problems == []
    records.write(record(case(join="2")), repository.folder)
    assert repository.problems == []
    repository.commit()
    assert repository.problems == []


def test_a_changed_record_is_found(repository: Repository) -> None:
    repository.edit()
    assert repository.problems == [f"{repository.record.name} was changed"]


def test_a_removed_record_is_found(repository: Repository) -> None:
    repository.record.unlink()
    assert repository.problems == [f"{repository.record.name} was removed"]


def test_a_record_that_is_not_listed_is_found(repository: Repository) -> None:
    (repository.folder / "other.json").write_text("{}", encoding="utf-8")
    assert repository.problems == [f"other.json is not in {manifest.NAME}: sha256sum other.json >> {manifest.NAME}"]


def test_a_changed_record_is_found_though_the_list_was_changed_with_it(repository: Repository) -> None:
    repository.edit()
    repository.hide()
    assert repository.problems == [f"{repository.record.name} was changed"]
    repository.commit()
    assert repository.problems == [f"{repository.record.name} was changed"]


def test_a_removed_record_is_found_though_the_list_was_changed_with_it(repository: Repository) -> None:
    repository.record.unlink()
    repository.hide()
    repository.commit()
    assert repository.problems == [f"{repository.record.name} was removed"]


def test_a_record_that_a_merge_leaves_out_is_found(repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "side")
    lost = records.write(record(case(join="2"), workload="groups"), repository.folder)
    repository.commit()
    repository.git("checkout", "-q", "main")
    repository.git("commit", "-q", "--allow-empty", "-m", "meanwhile")
    repository.git("merge", "-q", "-s", "ours", "-m", "without the record", "side")
    assert repository.problems == [f"{lost.name} was removed"]


def test_a_checkout_with_a_short_history_is_checked_too(repository: Repository, tmp_path: Path) -> None:
    (repository.root / "other").write_text("newer", encoding="utf-8")
    repository.commit()
    repository.git("clone", "-q", "--depth", "1", repository.root.as_uri(), str(tmp_path / "shallow"))
    folder = tmp_path / "shallow" / FOLDER
    assert manifest.problems(folder, tmp_path / "shallow") == []
    (folder / repository.record.name).write_text("{}", encoding="utf-8")
    assert manifest.problems(folder, tmp_path / "shallow") == [f"{repository.record.name} was changed"]


def test_without_a_history_the_list_is_asked_alone(repository: Repository, tmp_path: Path) -> None:
    (repository.root / ".git").rename(tmp_path / "away")
    assert repository.problems == []
    repository.edit()
    assert repository.problems == [f"{repository.record.name} was changed"]


def test_a_copy_inside_another_repository_is_not_described_by_it(repository: Repository) -> None:
    inner = repository.root / "copy"
    records.write(record(case(join="3")), inner / FOLDER)
    assert manifest.problems(inner / FOLDER, inner) == []
    assert surroundings.commit(inner) == (records.UNKNOWN, True)


def test_records_alone_make_a_checkout_no_dirty_one(repository: Repository) -> None:
    head = repository.git("rev-parse", "HEAD").strip()
    records.write(record(case(join="2")), repository.folder)
    assert surroundings.commit(repository.root) == (head, False)
    (repository.root / "other").write_text("changed", encoding="utf-8")
    assert surroundings.commit(repository.root) == (head, True)
