"""Users, and what they do with their own account."""
