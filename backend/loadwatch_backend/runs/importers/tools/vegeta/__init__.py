"""vegeta's results, as CSV, gob and JSON."""
