"""Rules and alerts in the shape of Prometheus' HTTP API."""
