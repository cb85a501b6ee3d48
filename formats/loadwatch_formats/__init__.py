"""What agent and server agree on: formats, units and words of both. Standard library and PyYAML only."""
