"""Text from data for a terminal."""

from imp_driver.values.plain import plain

__all__ = ["plain"]
