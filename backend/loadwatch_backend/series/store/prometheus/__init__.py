"""The second engine: any server that speaks Prometheus' remote write and HTTP API, with a queue on disk before it."""
