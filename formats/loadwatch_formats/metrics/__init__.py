"""The one catalogue of the metrics that agent and server bring about: a table for each source of them."""
