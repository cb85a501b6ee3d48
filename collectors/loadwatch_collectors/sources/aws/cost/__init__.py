"""What reading costs, and the budget that it stays in."""
