"""Instances that should be equal, held against each other."""
