"""The suite itself."""

from sqlalchemy.testing.suite import *  # noqa: F403
