"""Whether names of a folder are looked up on this machine, so that a test for one file is as good as a list of the folder.

A network file system may answer such a test from what it remembers; there, and where the system does not tell, logs are listed.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache

_MOUNTS = "/proc/self/mountinfo"
_LOCAL = frozenset({"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "ramfs", "reiserfs", "tmpfs", "xfs", "zfs"})
_ESCAPE = re.compile(r"\\([0-7]{3})")


@lru_cache(maxsize=1_000)
def is_local_disk(folder: str, device: int) -> bool:
    """Say whether an absolute folder, which lies on ``device`` (``st_dev``) now, is on a disk or in the memory of this machine."""
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            return kind_of(os.path.realpath(folder), file.read()) in _LOCAL
    except OSError:
        return False


def kind_of(folder: str, mounts: str) -> str:
    """Return the kind of the file system that a folder lies in, by the text of ``mountinfo``; empty where it has none."""
    kind, longest = "", -1
    for line in mounts.splitlines():
        place, _, source = line.partition(" - ")
        fields = place.split(" ")
        point = _ESCAPE.sub(lambda found: chr(int(found[1], 8)), fields[4]) if len(fields) > 4 else ""
        is_within = folder == point or folder.startswith(point.rstrip("/") + "/")
        # What is mounted later hides what was mounted there before.
        if point and is_within and len(point) >= longest:
            kind, longest = source.split(" ", 1)[0], len(point)
    return kind
