"""Samples: taken in, stored, queried by PromQL, exported and backed up."""
