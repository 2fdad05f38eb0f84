"""Queries over graphs, answered by what follows the graphs' tables."""
