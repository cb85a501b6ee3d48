"""What is known of the metrics that agent and server bring about, and the names that both use."""
