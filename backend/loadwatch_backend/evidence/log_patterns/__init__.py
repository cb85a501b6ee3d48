"""Which log lines a run brought about, by their pattern."""
