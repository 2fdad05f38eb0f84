"""Grouped aggregation: one accumulator kind a file, driven by the group state."""
