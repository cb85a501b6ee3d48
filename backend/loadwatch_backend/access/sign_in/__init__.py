"""How people prove who they are."""
