"""The agent: reads sources on a schedule and pushes their samples by Prometheus remote write."""
