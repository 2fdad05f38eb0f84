"""Files of the test suites for SPARQL 1.0 and 1.1 of github.com/w3c/rdf-tests, as they are there, in one archive.

The archive has what tests of queries and updates read, unchanged. Its licence stands in w3c_licence.txt beside it.
``python -m tests.soundness.sparql.carried FOLDER`` makes it anew from a checkout.
"""

from __future__ import annotations

import argparse
import io
import lzma
import tarfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

ARCHIVE = Path(__file__).parent / "w3c.tar.xz"
COMMIT = "ad541a5f0479f0798608c4801369d97b8e08b36f"
"""Of the repository, from which the archive was made."""

FOLDERS = ("sparql10", "sparql11")
LEFT_OUT = ("syntax-", "entailment", "service", "protocol", "graph-store-protocol", "http-rdf-update")
"""How names of folders begin that have no test of what is evaluated here: texts to parse, other entailment, and servers."""
ENDINGS = (".ttl", ".rq", ".ru", ".srx", ".srj", ".rdf", ".nt", ".trig", ".csv", ".tsv")


@cache
def files() -> dict[str, bytes]:
    """Return the content of each file by its path below the suites' folder, such as ``sparql10/basic/manifest.ttl``."""
    with tarfile.open(ARCHIVE, "r:xz") as archive:
        return {member.name: archive.extractfile(member).read() for member in archive.getmembers()}  # type: ignore[union-attr]


def text(path: str) -> str:
    return files()[path].decode("utf-8")


def archived(folder: Path) -> bytes:
    """Return an archive of a checkout's files, not yet compressed; it is the same one for the same files.

    Args:
        folder: ``sparql`` of a checkout.
    """
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for path in sorted(folder.rglob("*")):
            inner = path.relative_to(folder)
            if path.is_file() and _is_read(inner):
                member = tarfile.TarInfo(inner.as_posix())
                member.size = path.stat().st_size
                with path.open("rb") as opened:
                    archive.addfile(member, opened)
    return content.getvalue()


def _is_read(path: Path) -> bool:
    parts = path.parts
    if path.name == "LICENSE":
        return parts[0] in FOLDERS
    return len(parts) >= 3 and parts[0] in FOLDERS and not parts[1].startswith(LEFT_OUT) and path.suffix in ENDINGS


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.soundness.sparql.carried", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder sparql of a checkout")
    ARCHIVE.write_bytes(lzma.compress(archived(parser.parse_args(arguments).folder), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main()
