"""Notes at an instant or over a span of time."""
