"""What requests ask of the database, one statement at a time."""
