"""Remote write in: decoding, limits, and the wait for the commit."""
