"""Health, lag, cost and last error of everything that is observed."""
