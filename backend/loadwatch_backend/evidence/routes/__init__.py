"""Requests of a run by route: one table, from samples or from an access log that was imported for the run."""
