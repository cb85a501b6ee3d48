"""Gatling's simulation.log, as text and in binary."""
