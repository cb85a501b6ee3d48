"""What every layer may use: errors, settings, clock, logs, the server's own metrics."""
