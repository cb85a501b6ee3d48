"""Benchmarks, each beside a peer in the same run; results go to `bench/results`."""
