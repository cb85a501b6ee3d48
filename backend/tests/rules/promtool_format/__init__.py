"""Tests of rules in promtool's format: input series, and which alerts fire when."""
