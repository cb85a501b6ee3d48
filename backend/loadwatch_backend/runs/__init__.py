"""The registry of runs: what was run, when, by whom, against what, and how it ended."""
