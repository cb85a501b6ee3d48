"""OTLP over HTTP: metrics as OpenTelemetry sends them."""
