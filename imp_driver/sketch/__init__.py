"""6. Sketches, their ranges and their store."""
