"""A module, or a room, for each load tool."""
