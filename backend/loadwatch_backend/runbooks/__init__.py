"""The runbook pages, which alerts link to: written in `docs/runbooks`, served by the server itself."""
