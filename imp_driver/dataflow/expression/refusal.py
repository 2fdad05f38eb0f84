"""What is raised where Spark has to compute."""

from __future__ import annotations


class NotEvaluable(Exception):
    """This expression cannot be computed in process exactly as Spark computes it."""
