"""Profiles of a run as its page shows them: the list, functions, the tree, and what changed."""
