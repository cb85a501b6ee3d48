"""Rules in Prometheus' file format: read, checked, tested, and evaluated on the embedded engine.

Nothing here knows of alert states or of who is told; `alerts` does.
"""
