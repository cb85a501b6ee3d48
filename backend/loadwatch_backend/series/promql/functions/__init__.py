"""PromQL's functions over series."""
