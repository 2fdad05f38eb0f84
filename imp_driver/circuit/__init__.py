"""Plan -> wired operators, and the tables that they read."""
