"""Which receivers an alert goes to, and what holds it back."""
