"""The queries with nested aggregates, their streams of changes, and what they are compared with."""
