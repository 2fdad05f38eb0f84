"""1. The surface: PEP 249 connection and cursor."""
