"""Which query may begin, and how much memory it may take."""
