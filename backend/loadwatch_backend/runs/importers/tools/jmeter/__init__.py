"""JMeter's results, as CSV and XML."""
