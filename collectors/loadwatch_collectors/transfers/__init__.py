"""Samples of files to a server."""
