"""Processes of this host: how they are found, what they use, and what they may use."""
