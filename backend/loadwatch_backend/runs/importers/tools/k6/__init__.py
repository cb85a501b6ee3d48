"""k6's points and summaries."""
