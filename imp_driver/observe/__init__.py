"""Reports, and the statements that show and drop sketches."""
