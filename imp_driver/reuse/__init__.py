"""5. Whether a sketch captured for one set of constants answers the same statement with another set (sketch-reuse rules 2)."""
