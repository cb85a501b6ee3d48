"""Logs that are read once and kept with a run as what they say of it."""
