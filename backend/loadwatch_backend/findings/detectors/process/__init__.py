"""A process and its limits."""
