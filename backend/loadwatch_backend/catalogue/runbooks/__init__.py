"""The runbook pages, which alerts link to: written in packs, served by the server itself."""
