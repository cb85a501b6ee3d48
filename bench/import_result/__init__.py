"""The import of a large result beside polars and beside the report generators of JMeter and Gatling."""
