"""Sketches and their states beyond the life of a process: records, their encoding, and the Delta tables that hold them."""
