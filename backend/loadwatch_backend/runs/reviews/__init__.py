"""Reviews, and the links that share a run."""
