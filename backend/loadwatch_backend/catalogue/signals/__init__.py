"""Signals: named PromQL expressions with unit, help and orientation; everything drawn refers to them."""
