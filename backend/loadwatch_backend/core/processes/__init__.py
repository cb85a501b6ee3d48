"""Processes that belong together: children that end with their parent, and how a server reaches its agent."""
