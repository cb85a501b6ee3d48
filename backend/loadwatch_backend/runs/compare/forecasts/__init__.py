"""Forecasts of capacity from the runs of a scenario, kept and held against later runs."""
