"""The formats in which recorded runs are written, found by their content."""
