"""Values of expressions per row, exactly as Spark has them, or not at all."""
