"""PromQL: parsed once, evaluated on numpy arrays with the semantics of Prometheus 3."""
