"""What a list of runs asks for: its language, and the conditions that it comes to."""
