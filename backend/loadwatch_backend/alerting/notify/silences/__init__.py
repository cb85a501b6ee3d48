"""Silences, for a time or by the hours of a week."""
