"""Statements of SQL as agent, server and command line know them: fingerprints, masking, slow logs, sums."""
