"""Connecting an application: what listens on this host, and the agent beside the server told to watch it."""
