"""What a load test left behind: the model of its result, exact percentiles, per-second series and its files on disk."""
