"""PromQL over HTTP, as Prometheus answers."""
