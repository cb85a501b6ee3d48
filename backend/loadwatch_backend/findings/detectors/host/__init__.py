"""The machine, and what else runs on it."""
