"""Between a request that was accepted and its row in the database."""
