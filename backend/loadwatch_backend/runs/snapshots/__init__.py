"""The configuration of all targets at an instant, read from the store, and the difference between two."""
