"""Recordings of labelled cases played to a server again, and what its findings are worth."""
