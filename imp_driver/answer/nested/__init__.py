"""Aggregates above finer groups: merged from these, and correlated with them."""
