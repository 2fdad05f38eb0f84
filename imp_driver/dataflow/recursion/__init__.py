"""Recursive relations by rules: their rows with the levels at which they are derived, followed under inserts and deletes."""
