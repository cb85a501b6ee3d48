"""Alerts that go out together."""
