"""Notifications on their way, until they have arrived."""
