"""From sample taken to drawn."""
