"""How soon, how cheaply and how surely alerts arrive, beside Prometheus with Alertmanager."""
