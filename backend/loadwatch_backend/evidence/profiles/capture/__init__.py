"""Profiles that are ordered: when, of which process, and what became of it."""
