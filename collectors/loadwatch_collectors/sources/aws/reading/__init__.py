"""Reads points: windows, batches, delays, and the side readings."""
