"""The server: takes samples by remote write, stores them, answers PromQL, and serves the dashboard."""
