"""Which folders are on a disk of this machine."""

from __future__ import annotations

import pytest

from imp_driver.delta.local_disk import kind_of

MOUNTS = r"""22 1 252:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:21 / /proc rw - proc proc rw
24 22 0:40 / /data rw,relatime shared:5 - nfs4 server:/data rw
25 24 252:1 / /data/my\040tables rw - xfs /dev/vdb rw
26 22 252:2 / /old rw - ext4 /dev/vdc rw
27 22 0:41 / /old rw - fuse.sshfs other:/ rw
nonsense
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/tables", "ext4"),
        ("/", "ext4"),
        ("/data", "nfs4"),
        ("/data/t", "nfs4"),
        ("/database", "ext4"),
        ("/data/my tables/t", "xfs"),
        ("/old/t", "fuse.sshfs"),
    ],
)
def test_the_nearest_mount_that_is_not_hidden_tells(folder: str, kind: str) -> None:
    assert kind_of(folder, MOUNTS) == kind


def test_without_mounts_nothing_is_known() -> None:
    assert kind_of("/tables", "") == ""
