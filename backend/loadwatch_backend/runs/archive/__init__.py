"""A run with all its evidence as one file."""
