"""Window functions over rows that are there: their order, their frames, and one kind of function a file."""
