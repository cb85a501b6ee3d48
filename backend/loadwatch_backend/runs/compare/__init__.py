"""Runs side by side: comparison, sweep and trend."""
