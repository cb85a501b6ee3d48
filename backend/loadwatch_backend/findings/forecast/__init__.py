"""The rate at which each resource is full, from runs below it. Pure."""
