"""One module for each kind of source that the agent can read."""
