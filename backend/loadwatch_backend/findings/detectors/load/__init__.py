"""The load: whether it was what it says it was."""
