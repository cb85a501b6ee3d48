"""Remote read: samples of series to another Prometheus, raw or as streamed chunks."""
