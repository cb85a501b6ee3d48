"""What a request costs: statements and database time by route, from the seconds of a run."""
