"""Settings of the random tests: no deadline, since machines differ; few cases, others each run,
and many with IMP_WIDE=1. Settings of each JVM."""

from __future__ import annotations

from hypothesis import settings

from tests import jvm
from tests.seeds import WIDE

settings.register_profile("default", deadline=None, print_blob=True, max_examples=40)
settings.register_profile("wide", deadline=None, print_blob=True, max_examples=2_000)
settings.load_profile("wide" if WIDE else "default")

jvm.tune()
