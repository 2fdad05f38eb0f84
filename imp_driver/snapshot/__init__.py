"""Which tables at which versions."""
