"""Tokens of agents, tools and people."""
