"""A run against the one that it is compared with: what was different before the load."""
