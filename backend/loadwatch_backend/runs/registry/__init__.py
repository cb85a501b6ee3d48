"""What runs there are, and how they change."""
