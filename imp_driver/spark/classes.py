"""A class of the JVM by its full name, in one exchange.

Asked for by parts (``jvm.java.util.List``), each part that is a package is looked for as a class in every jar of Spark first, below every
package that PySpark imports: up to 3 ms for one name.
"""

from __future__ import annotations

from typing import Any


def java_class(jvm: Any, name: str) -> Any:
    """Return a class of Java; ``jvm`` is that of a SparkContext."""
    return getattr(jvm, name)


def scala_object(jvm: Any, name: str) -> Any:
    """Return the one instance of an object of Scala."""
    return getattr(java_class(jvm, f"{name}$"), "MODULE$")
